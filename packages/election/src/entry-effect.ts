import type { Entry, LogIndex } from '@engram/raft-ts';
import { afterCommand, afterMemberChange, type ClusterState } from './cluster/cluster-state.ts';
import { decodeCommand, decodeMemberChange } from './codec/cluster-codec.ts';
import type { ClusterCommand } from './cluster/command.ts';
import { ElectionError } from './election-error.ts';

/** What a committed entry does. */
export interface EntryEffect {
  readonly state: ClusterState;
  /** Undefined if the entry has none, or is skipped. */
  readonly command: ClusterCommand | undefined;
}

/** The effect of an entry on the state. Throws ElectionError `bad-bytes` if its contents cannot be read. */
function effectOf(state: ClusterState, entry: Entry): EntryEffect {
  if (entry.kind === 'conf-change') {
    const after = afterMemberChange(state, entry.change, decodeMemberChange(entry.change.context));
    return { state: after, command: undefined };
  }
  if (entry.data.length === 0) return { state, command: undefined };
  const command = decodeCommand(entry.data);
  return { state: afterCommand(state, command), command };
}

/** As `effectOf`, for an entry that is committed: throws ElectionError `unreadable-entry`, unless it is to be skipped. */
export function committedEffectOf(state: ClusterState, entry: Entry, skipped: ReadonlySet<LogIndex>): EntryEffect {
  if (skipped.has(entry.index)) return { state, command: undefined };
  try {
    return effectOf(state, entry);
  } catch (error) {
    if (!(error instanceof ElectionError)) throw error;
    throw new ElectionError('unreadable-entry', unreadable(entry, error), { cause: error });
  }
}

const unreadable = ({ index, term }: Entry, { message }: Error): string =>
  `entry ${index} of term ${term}: ${message}. A later version can read it, if one has made it. ` +
  `Otherwise start every member with --skip-raft-entries=${index}`;
