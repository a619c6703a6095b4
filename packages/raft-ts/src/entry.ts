import type { LogIndex } from './log-index.ts';
import type { NodeId } from './node-id.ts';
import type { Term } from './term.ts';

/**
 * One step of the membership. A step changes the set of voters by at most one node, so any majority before the step and
 * any majority after it share a node (Raft thesis, 4.1). Two steps at a time are refused for the same reason.
 */
export interface ConfChange {
  /**
   * `add-voter`: adds a voter, or promotes a learner. `add-learner`: adds a node that gets the log and is in no quorum, or
   * demotes a voter. `update` changes nothing here: it carries its context in the order of the other changes.
   */
  readonly kind: 'add-voter' | 'add-learner' | 'remove' | 'update';
  readonly node: NodeId;
  /** Bytes of the application, carried along. */
  readonly context: Uint8Array;
}

/** An entry of the application, or an empty one: a leader begins its term with an empty entry. */
export interface NormalEntry {
  readonly kind: 'normal';
  readonly term: Term;
  readonly index: LogIndex;
  readonly data: Uint8Array;
}

export interface ConfChangeEntry {
  readonly kind: 'conf-change';
  readonly term: Term;
  readonly index: LogIndex;
  readonly change: ConfChange;
}

/** If two logs have entries with the same term and index, these entries and all entries before them are the same. */
export type Entry = NormalEntry | ConfChangeEntry;

/** The contents of a proposed entry. The leader gives the entry its place. */
export type Payload =
  | { readonly kind: 'normal'; readonly data: Uint8Array }
  | { readonly kind: 'conf-change'; readonly change: ConfChange };

/** The application's bytes in a payload, which `uncommittedBytesMax` counts. */
export function payloadBytes(payload: Payload): number {
  return payload.kind === 'normal' ? payload.data.length : payload.change.context.length;
}

/** The most bytes that an entry takes in a message beside its payload: term, index, kind, lengths, and a node's id. */
const OVERHEAD_BYTES = 40;

/** The bytes of an entry, as `messageBytesMax` and the windows count them. */
export function entryBytes(entry: Entry): number {
  return payloadBytes(entry) + OVERHEAD_BYTES;
}

/** As many entries from the front as fit `bytesMax`, but at least one: else a large entry would never be sent. */
export function limitBytes(entries: readonly Entry[], bytesMax: number): readonly Entry[] {
  let bytes = 0;
  for (let at = 0; at < entries.length; at += 1) {
    bytes += entryBytes(entries[at]!);
    if (bytes > bytesMax && at > 0) return entries.slice(0, at);
  }
  return entries;
}

export function totalBytes(entries: readonly Entry[]): number {
  let bytes = 0;
  for (const entry of entries) bytes += entryBytes(entry);
  return bytes;
}
