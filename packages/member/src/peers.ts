import type { LogPosition } from '@engram/core';
import type { LogBatch } from '@engram/storage';

/** Why a call to another member has no answer. */
export type PeerFault =
  /** It did not leave: nothing has happened there. */
  | 'unsent'
  /** It left, and what became of it is not known. */
  | 'lost'
  /** The feed does not go back so far: the log has it. */
  | 'behind';

export class PeerError extends Error {
  override readonly name = 'PeerError';
  readonly fault: PeerFault;

  constructor(fault: PeerFault, message: string, options?: ErrorOptions) {
    super(message, options);
    this.fault = fault;
  }
}

/** The way to the other members, as one of them sees it. */
export interface Peers {
  /**
   * One request, one answer; PeerError where there is none. Once the signal has aborted nobody waits: it rejects with
   * the signal's reason, and what became of the call is not known.
   */
  call(member: bigint, request: Uint8Array, signal: AbortSignal): Promise<Uint8Array>;
  /**
   * What the leader commits, from a position on, in order and without gaps. Flow controlled: it waits for its reader.
   * PeerError: `behind`, or the connection is gone. It ends when the member leads no more, and at the signal.
   */
  follow(member: bigint, from: LogPosition, signal: AbortSignal): AsyncIterable<LogBatch>;
}

/** The way to the other members, for a whole member. */
export interface PeerNetwork extends Peers {
  /** Raft's messages: in order to each member, dropped rather than kept waiting. */
  send(member: bigint, bytes: Uint8Array): void;
  /** Whom to keep a connection to, and where they are. */
  setMembers(members: readonly PeerAddress[]): void;
}

export interface PeerAddress {
  readonly id: bigint;
  readonly peerUrls: readonly string[];
}

/** What a member does for the others: the transport calls it. */
export interface PeerService {
  /** A message of Raft's. */
  message(bytes: Uint8Array): void;
  /** This member's connection to another one: it stands, it has ended, or its address refuses a new one. */
  connected(member: bigint): void;
  disconnected(member: bigint): void;
  gone(member: bigint): void;
  call(request: Uint8Array, signal: AbortSignal): Promise<Uint8Array>;
  follow(from: LogPosition, signal: AbortSignal): AsyncIterable<LogBatch>;
}
