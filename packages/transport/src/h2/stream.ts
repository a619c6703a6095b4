import type { Queued } from '@engram/core';
import type { SendQueue } from './send-queue.ts';
import { STREAM_WINDOW_BYTES } from './limits.ts';
import type { LongTurn } from './receive-flow.ts';

/**
 * One HTTP/2 stream, open from its HEADERS until both sides have ended it or one has reset it. The connection passes in
 * its DATA, and the sender sends its queue. Subclasses define its meaning.
 */
export abstract class Stream implements Queued<Stream> {
  readonly id: number;
  /** The client has ended its side (END_STREAM), or the stream is gone. */
  remoteClosed = false;
  /** The server's last frame is written, or the stream is gone. */
  localClosed = false;

  // Owned by the sender:
  sendWindow: number;
  queue: SendQueue | undefined;
  /** The last frame is to be written when the queue is empty. */
  ending = false;
  /** Whether the stream is in the sender's line of streams with bytes to send. */
  queued = false;
  /** The next bytes are being loaded from the store. Until then, the stream is not in the line. */
  preparing = false;
  before: Stream | undefined;
  after: Stream | undefined;
  /** Bytes in the batch that gathers, if the stream is `counted`. */
  batchBytes = 0;
  /** Bytes in the batch in flight, if the stream is `counted`. */
  flyingBytes = 0;
  readonly counted: boolean = false;

  // Owned by the receiving side:
  /** What the client may still send. */
  receiveWindow = STREAM_WINDOW_BYTES;
  /** Bytes that are missing of a message that has begun. */
  missingBytes = 0;
  /** Of a long message whose window is open or waited for. */
  longTurn: LongTurn | undefined;
  /** Bytes that the stream holds of its request, as the connection counts them. */
  heldBytes = 0;
  /** The connection has removed the stream. */
  gone = false;
  /** Bytes of DATA without padding, to be compared with content-length. */
  receivedBytes = 0;

  constructor(id: number, sendWindow: number) {
    this.id = id;
    this.sendWindow = sendWindow;
  }

  /** The value of `content-length`; -1 if the request has none. */
  abstract get contentLength(): number;
  /** The connection has added the stream to its table. */
  opened(): void {}
  /**
   * Payload of a DATA frame. The bytes never change. Returns the position reached: less than `end` if the slice is used
   * up. Then it is called again with the rest, before anything else that the client has sent.
   */
  abstract data(bytes: Buffer, start: number, end: number): number;
  /** The frame is over, and the client has not ended its side: chunks of which the stream keeps a part may be freed. */
  stays(): void {}
  /** The client has ended its side. */
  abstract halfClosed(): void;
  /** Writes the last frame: trailers, or the end of its DATA. Its queue is empty. */
  abstract writeEnd(): void;
  /** The stream is gone before its regular end: one side reset it, or the connection is lost. */
  abstract aborted(): void;
  /** The server drains: streams that would stay open for long end. */
  stop(): void {}
  /** Counted bytes have left the process. */
  sent(): void {}
  /** No further DATA is credited while this is true. */
  get congested(): boolean {
    return false;
  }
}
