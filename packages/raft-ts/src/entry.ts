import type { LogIndex } from './log-index.ts';
import type { NodeId } from './node-id.ts';
import type { Term } from './term.ts';

/**
 * One step of the membership. Each changes the set of voters by at most one node, so any majority before the step and
 * any majority after it share a node (Raft thesis, 4.1); two steps at a time are refused for the same reason.
 */
export interface ConfChange {
  /**
   * `add-voter`: a new voter, or a learner's promotion. `add-learner`: a node that gets the log and is in no quorum, or a
   * voter's demotion. `update` changes nothing here: it carries its context in the order of the other changes.
   */
  readonly kind: 'add-voter' | 'add-learner' | 'remove' | 'update';
  readonly node: NodeId;
  /** The application's own, carried along. */
  readonly context: Uint8Array;
}

/** What an application has agreed upon, or nothing: a leader begins its term with an empty entry. */
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

/** Two entries with the same term and index are the same in any two logs, and so is all before them. */
export type Entry = NormalEntry | ConfChangeEntry;

/** What an entry is proposed with: its place is the leader's to give. */
export type Payload =
  | { readonly kind: 'normal'; readonly data: Uint8Array }
  | { readonly kind: 'conf-change'; readonly change: ConfChange };

/** The application's bytes in it: what `uncommittedBytesMax` counts. */
export function payloadBytes(payload: Payload): number {
  return payload.kind === 'normal' ? payload.data.length : payload.change.context.length;
}

/** What an entry takes in a message beside its payload, at most: term, index, kind, lengths, and a node's id. */
const OVERHEAD_BYTES = 40;

/** What `messageBytesMax` and the windows count. */
export function entryBytes(entry: Entry): number {
  return payloadBytes(entry) + OVERHEAD_BYTES;
}

/** As many from the front as fit `bytesMax`, and the first in any case: else a large entry would never travel. */
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
