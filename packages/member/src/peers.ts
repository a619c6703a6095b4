import { FaultError, type LogPosition } from '@engram/core';
import type { LogBatch } from '@engram/storage';

/** Why a call to another member has no answer. */
export type PeerFault =
  /** The call was not sent: the other member has done nothing. */
  | 'unsent'
  /** The call was sent, and its outcome is not known. */
  | 'lost'
  /** The feed does not go back to the position. The log has it. */
  | 'behind'
  /** The other member has sent what no member sends that keeps the rules. Nothing of it was taken. */
  | 'refused';

export class PeerError extends FaultError<PeerFault> {
  override readonly name = 'PeerError';
}

/** Of a call that has reached its bound. */
export const noAnswer = (): PeerError => new PeerError('lost', 'no answer in time');

/** Calls to the other members. */
export interface Peers {
  /**
   * One request, one answer; PeerError if there is no answer. When the signal aborts, the call rejects with the signal's
   * reason, and its outcome is not known. Without a signal it waits for the answer or the end of the connection.
   */
  call(member: bigint, request: Uint8Array, signal?: AbortSignal): Promise<Uint8Array>;
  /**
   * The batches that the leader commits, from a position on, in order and without gaps. Flow controlled: it waits for its
   * reader. PeerError `behind`, or if the connection is gone. It ends when the member no longer leads, or the signal aborts.
   */
  follow(member: bigint, from: LogPosition, signal: AbortSignal): AsyncIterable<LogBatch>;
}

/** Everything that a member sends to the other members, Raft's messages included. */
export interface PeerNetwork extends Peers {
  /** Sends a message of Raft. Messages reach each member in order. A message that would have to wait is dropped. */
  send(member: bigint, bytes: Uint8Array): void;
  /** The members to keep a connection to, and their addresses. */
  setMembers(members: readonly PeerAddress[]): void;
  /** Counts a batch of this member that was not taken. */
  refusedBatch?(member: bigint): void;
}

export interface PeerAddress {
  readonly id: bigint;
  readonly peerUrls: readonly string[];
}

/** The member that waits for the answer of a call. */
export interface PeerCaller {
  readonly member: bigint;
  /** Aborts when nobody waits any more. It is created at first use: a call that needs none should not read it. */
  readonly signal: AbortSignal;
}

/** What a member does for the others: the transport calls it. */
/** The member that a message comes from. */
export interface Speaker {
  readonly member: bigint;
  /** The message came over a connection that this member has made, to an address that the member list has. */
  readonly dialed: boolean;
}

/**
 * `removed`: it may ask only for votes, and whether it may leave. `unknown`: it is in no list that this member has; if it was added
 * just now, it soon is. `asking`: an unknown member that may ask for votes, or lead, because this member has had no leader for long.
 */
export type PeerAdmission = 'member' | 'removed' | 'unknown' | 'asking';

export interface PeerService {
  /** Whether streams of `member` are served. Asked again for each frame, because the answer changes. */
  admission(member: bigint): PeerAdmission;
  /**
   * Takes a message of Raft. Returns why it is not taken from this speaker; it has changed nothing then, and the transport ends
   * the stream that it came on. Undefined if it was taken.
   */
  message(bytes: Uint8Array, speaker: Speaker): string | undefined;
  /** This member's connection to `member` stands. */
  connected(member: bigint): void;
  /** This member's connection to `member` has ended. */
  disconnected(member: bigint): void;
  /** The address of `member` refuses a new connection. */
  gone(member: bigint): void;
  call(request: Uint8Array, caller: PeerCaller): Promise<Uint8Array>;
  follow(from: LogPosition, signal: AbortSignal): AsyncIterable<LogBatch>;
}
