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

/** What a member does for the others: the transport calls it. */
export interface PeerService {
  call(request: Uint8Array, signal: AbortSignal): Promise<Uint8Array>;
  follow(from: LogPosition, signal: AbortSignal): AsyncIterable<LogBatch>;
}
