import type { Entry, Payload } from './entry.ts';
import type { LogIndex } from './log-index.ts';
import type { NodeId } from './node-id.ts';
import type { EntryId } from './entry-id.ts';
import type { Snapshot } from './snapshot.ts';
import type { Term } from './term.ts';

interface Addressed {
  readonly from: NodeId;
  readonly to: NodeId;
}

/** `term` is the sender's. In a pre-vote and its grant it is the term that the pre-candidate would campaign in. */
interface Termed extends Addressed {
  readonly term: Term;
}

export interface VoteRequest extends Termed {
  readonly type: 'vote' | 'pre-vote';
  /** The last entry of the candidate's log. */
  readonly lastIndex: LogIndex;
  readonly lastTerm: Term;
  /** The leader itself asked for this campaign, so followers that hear from that leader vote too. */
  readonly transfer: boolean;
  /** The last entry that the sender knows to be committed. */
  readonly committed: EntryId;
}

export interface VoteResponse extends Termed {
  readonly type: 'vote-response' | 'pre-vote-response';
  readonly granted: boolean;
  /** The last entry that the sender knows to be committed. */
  readonly committed: EntryId;
}

/** Entries behind (prevIndex, prevTerm), which the follower must have. Without entries, a probe or news of the commit. */
export interface AppendRequest extends Termed {
  readonly type: 'append';
  readonly prevIndex: LogIndex;
  readonly prevTerm: Term;
  readonly entries: readonly Entry[];
  readonly commit: LogIndex;
}

export interface AppendResponse extends Termed {
  readonly type: 'append-response';
  /** The index up to which the logs agree. In a rejection, the rejected `prevIndex`. */
  readonly index: LogIndex;
  /** The place where the logs may agree: at or before `index`, with the follower's term there (0: unknown). */
  readonly rejection: EntryId | undefined;
}

export interface Heartbeat extends Termed {
  readonly type: 'heartbeat';
  /** Never above what the follower has acknowledged. */
  readonly commit: LogIndex;
  /** The newest round of reads in this term, which the answer repeats. 0: none yet. */
  readonly readRound: number;
}

export interface HeartbeatResponse extends Termed {
  readonly type: 'heartbeat-response';
  readonly readRound: number;
}

export interface SnapshotMessage extends Termed {
  readonly type: 'snapshot';
  readonly snapshot: Snapshot;
}

/** Tells the receiver to campaign now: the leader hands over. */
export interface TimeoutNow extends Termed {
  readonly type: 'timeout-now';
}

/** A proposal that a follower forwards to its leader. It has no term: any leader that it reaches may take it. */
export interface ProposeRequest extends Addressed {
  readonly type: 'propose';
  readonly payloads: readonly Payload[];
}

export interface ReadIndexRequest extends Addressed {
  readonly type: 'read-index';
  readonly context: Uint8Array;
}

export interface ReadIndexResponse extends Termed {
  readonly type: 'read-index-response';
  readonly index: LogIndex;
  readonly context: Uint8Array;
}

export interface TransferRequest extends Addressed {
  readonly type: 'transfer-leader';
  readonly target: NodeId;
}

/** Plain data: a message may be stored, sent, delayed, doubled or lost. `encodeMessage` gives its bytes. */
export type Message =
  | VoteRequest
  | VoteResponse
  | AppendRequest
  | AppendResponse
  | Heartbeat
  | HeartbeatResponse
  | SnapshotMessage
  | TimeoutNow
  | ProposeRequest
  | ReadIndexRequest
  | ReadIndexResponse
  | TransferRequest;
