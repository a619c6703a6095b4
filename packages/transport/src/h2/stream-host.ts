import type { Admission } from './admission.ts';
import type { ReceiveFlow } from './receive-flow.ts';
import type { Sender } from './sender.ts';
import type { Stream } from './stream.ts';

/** The part of a connection that its streams use. */
export interface StreamHost {
  readonly sender: Sender;
  readonly receive: ReceiveFlow;
  readonly admission: Admission;
  readonly peer: string;
  /**
   * Names the connection to the loop, as a caller, and holds nothing of it: the loop remembers a caller for a while after its
   * last slice.
   */
  readonly client: object;
  readonly secure: boolean;
  readonly commonName: string | undefined;
  /** The server drains: long-lived streams must end. */
  readonly draining: boolean;
  /** When the chunk that is being processed arrived. */
  readonly receivedMs: number;
  /** The slice of this turn is used up. Code that works on a frame should stop where it can. */
  readonly sliceSpent: boolean;
  /** The current time. Within a slice, the time of the last reading: reading the clock costs a hundredth of a short call. */
  readonly lookMs: number;
  /** A handler ran for `ms`, until `nowMs`. It counts for the slice before the clock is read again. */
  worked(ms: number, nowMs: number): void;
  /** Charges the client for work that carries no request. Throws when the client has spent its tokens. */
  spend(tokens: number, what: string): void;
  /** Ends a stream with RST_STREAM. */
  reset(stream: Stream, errorCode: number): void;
  /** The rest of an answer cannot be had: the stream is reset, and the client owes nothing for it. */
  streamBroken(stream: Stream, cause: unknown): void;
  /** Sends this frame as the answer to a request that gets no stream. The client does not have to send the rest. */
  refuse(streamId: number, frame: Buffer, endStream: boolean): void;
  /** Sends RST_STREAM for a stream that is not open. */
  resetClosed(streamId: number, errorCode: number): void;
}
