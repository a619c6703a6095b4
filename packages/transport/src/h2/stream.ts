import type { Queued } from '@engram/core';
import type { SendQueue } from './send-queue.ts';
import { STREAM_WINDOW_BYTES } from './limits.ts';
import type { LongTurn } from './receive-flow.ts';

/**
 * One HTTP/2 stream, open from its HEADERS until both sides have ended it or one has reset it. The connection feeds
 * it, the sender drains it; what it means is the subclass's.
 */
export abstract class Stream implements Queued<Stream> {
  readonly id: number;
  /** The client has ended its side (END_STREAM), or the stream is gone. */
  remoteClosed = false;
  /** Our last frame is written, or the stream is gone. */
  localClosed = false;

  // The sender's:
  sendWindow: number;
  queue: SendQueue | undefined;
  /** Its last frame is due when the queue is empty. */
  ending = false;
  /** Its place in the sender's line of streams with something to send. */
  queued = false;
  /** What it has to send next is on its way from where it is stored: it is in no line until then. */
  preparing = false;
  before: Stream | undefined;
  after: Stream | undefined;
  /** Bytes in the batch that gathers, and in the one that the kernel is taking. Counted for streams with `counted`. */
  batchBytes = 0;
  flyingBytes = 0;
  readonly counted: boolean = false;

  // The receiving side's:
  /** What the client may still send. */
  receiveWindow = STREAM_WINDOW_BYTES;
  /** Bytes that are still to come of a message that has begun. */
  missingBytes = 0;
  /** Of a long message for which the window was, or waits to be, opened. */
  longTurn: LongTurn | undefined;
  /** Of its request, as the connection counts it. */
  heldBytes = 0;
  /** It is no stream of its connection any more. */
  gone = false;
  /** Of DATA, without padding, to be held against content-length. */
  receivedBytes = 0;

  constructor(id: number, sendWindow: number) {
    this.id = id;
    this.sendWindow = sendWindow;
  }

  /** What `content-length` promised; -1 if nothing. */
  abstract get contentLength(): number;
  /** The connection knows the stream now. */
  opened(): void {}
  /**
   * Payload of a DATA frame. The bytes never change. Returns how far it has come: less than `end` where the slice is used
   * up. It is called again with the rest, before anything else that the client has sent.
   */
  abstract data(bytes: Buffer, start: number, end: number): number;
  /** The client has ended its side. */
  abstract halfClosed(): void;
  /** Writes its last frame: trailers, or the end of its DATA. Nothing of it is queued any more. */
  abstract writeEnd(): void;
  /** The stream is gone before its end: reset by one side, or its connection is lost. */
  abstract aborted(): void;
  /** The server takes leave: what would stay open for long ends. */
  stop(): void {}
  /** Counted bytes have left the process. */
  sent(): void {}
  /** No further DATA is credited while it is true. */
  get congested(): boolean {
    return false;
  }
}
