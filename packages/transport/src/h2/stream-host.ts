import type { Admission } from './admission.ts';
import type { ReceiveFlow } from './receive-flow.ts';
import type { Sender } from './sender.ts';
import type { Stream } from './stream.ts';

/** What a stream knows of its connection. */
export interface StreamHost {
  readonly sender: Sender;
  readonly receive: ReceiveFlow;
  readonly admission: Admission;
  readonly peer: string;
  readonly secure: boolean;
  readonly commonName: string | undefined;
  /** The server takes leave: streams that would stay open must not. */
  readonly draining: boolean;
  /** When the chunk that is being worked on came. */
  readonly receivedMs: number;
  /** What frames may take of this turn is used up: whoever works on one should stop where it can. */
  readonly sliceSpent: boolean;
  /** What the clock says. In a slice it is what it said when it was last asked: asking costs a hundredth of a short call. */
  readonly lookMs: number;
  /** A handler had the event loop for so long, until now: it counts for the slice before the clock is asked again. */
  worked(ms: number, nowMs: number): void;
  /** Charges the client for work that it makes and that brings nothing. Throws when it has overdrawn. */
  spend(tokens: number, what: string): void;
  /** Ends a stream with RST_STREAM. */
  reset(stream: Stream, errorCode: number): void;
  /** Answers a request that gets no stream with this frame, and the client need not go on. */
  refuse(streamId: number, frame: Buffer, endStream: boolean): void;
  /** RST_STREAM for a stream that is not open. */
  resetClosed(streamId: number, errorCode: number): void;
}
