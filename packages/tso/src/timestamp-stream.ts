import type { Clock } from '@engram/core';
import type { Timestamp } from './timestamp.ts';

/** What came of one request for timestamps. */
export type TimestampAnswer =
  /** `count` consecutive timestamps, the highest of which is `last`. No other client gets them. */
  | { readonly kind: 'allocated'; readonly last: Timestamp; readonly count: number }
  /** No answer came. Timestamps may have been allocated, which nobody uses. */
  | { readonly kind: 'lost' }
  /** The server refuses the client for good. */
  | { readonly kind: 'refused'; readonly error: Error };

/** The connection to the server that allocates timestamps. One request at a time. */
export interface TimestampStream {
  /** Asks for `count` (1 to TIMESTAMPS_MAX) timestamps. Ends by a bound of its own. Rejects if the client closes. */
  ask(count: number): Promise<TimestampAnswer>;
  /**
   * After the answers to `failures` requests in a row were lost: looks for the server again, and waits, so that the next request
   * may have an answer. Rejects if the client closes.
   */
  recover(failures: number): Promise<void>;
  /** Ends the request under way. Another `ask` opens the stream again. */
  drop(): void;
}

/** A caller that waits for timestamps. The errors are its own. */
export interface TimestampCall {
  readonly signal: AbortSignal | undefined;
  /** Throws if the call is over. */
  check(): void;
  remainingMs(): number;
  /** The error of a call whose time is over. */
  late(cause: unknown): Error;
  /** The error of a call whose signal has fired. */
  aborted(): Error;
}

/** Decides when the first request of an idle stream is sent: at once, or when others may have joined it. */
export interface RequestPacing {
  plan(clock: Clock, send: () => void): void;
  /** `count`: callers that one request has served. */
  sent(count: number): void;
}
