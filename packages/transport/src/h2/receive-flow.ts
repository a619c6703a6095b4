import { LinkedQueue, type Queued, type Share } from '@engram/core';
import {
  CONNECTION_WINDOW_BYTES,
  LONG_MESSAGES_BYTES,
  REQUESTS_HELD_FREE_BYTES,
  REQUESTS_HELD_MAX_BYTES,
  STREAM_WINDOW_BYTES,
} from './limits.ts';
import type { Stream } from './stream.ts';

/** A long message that waits for its window, or has it. */
export class LongTurn implements Queued<LongTurn> {
  readonly stream: Stream;
  /** The bytes that the window was, or will be, opened for. */
  readonly bytes: number;
  queued = false;
  before: LongTurn | undefined;
  after: LongTurn | undefined;

  constructor(stream: Stream, bytes: number) {
    this.stream = stream;
    this.bytes = bytes;
  }
}

/**
 * Flow control of what the client sends. A window is opened again when half of it is used, so WINDOW_UPDATEs are rare.
 * A connection needs one for 8 MiB, and a stream with one request of usual size none.
 *
 * A message longer than a stream's window gets a window for its whole rest at once, but only LONG_MESSAGES_BYTES are
 * open at a time; other long messages wait in line. So a client with a hundred long messages in flight costs the memory
 * of a few, and no message stops for lack of a window that another one holds.
 */
export class ReceiveFlow {
  readonly #update: (streamId: number, increment: number) => void;
  readonly #longMax: number;
  #window = CONNECTION_WINDOW_BYTES;
  #longBytes = 0;
  readonly #longLine = new LinkedQueue<LongTurn>();
  #ended = false;
  readonly #share: Share;
  #heldBytes = 0;

  /** `update` sends a WINDOW_UPDATE; `share` is the connection's share of the request budget. */
  constructor(messageMaxBytes: number, share: Share, update: (streamId: number, increment: number) => void) {
    this.#update = update;
    this.#share = share;
    this.#longMax = Math.max(LONG_MESSAGES_BYTES, messageMaxBytes);
  }

  /** What open streams hold of their requests: heads, incomplete messages, and messages that no handler has taken. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Sets what the stream holds from now on. */
  hold(stream: Stream, bytes: number): void {
    if (stream.gone) return;
    this.#heldBytes += bytes - stream.heldBytes;
    stream.heldBytes = bytes;
  }

  /** The stream has ended. Later calls of `hold` for it are ignored. */
  streamGone(stream: Stream): void {
    this.longDone(stream);
    this.hold(stream, 0);
    stream.gone = true;
  }

  /** The connection, or the process, holds more of requests than it may. A stream that needs more then fails. */
  get overdrawn(): boolean {
    if (this.#heldBytes <= REQUESTS_HELD_FREE_BYTES) return false;
    if (this.#heldBytes <= REQUESTS_HELD_MAX_BYTES && this.#share.mayGrow) return false;
    this.#share.refused();
    return true;
  }

  /** DATA arrived, `bytes` includes padding. False when the client exceeded the window. */
  received(bytes: number): boolean {
    this.#window -= bytes;
    return this.#window >= 0;
  }

  /** Opens the connection's window again. Must not be called while calls wait to start. */
  credit(): void {
    if (this.#window > CONNECTION_WINDOW_BYTES / 2 || this.overdrawn) return;
    this.#update(0, CONNECTION_WINDOW_BYTES - this.#window);
    this.#window = CONNECTION_WINDOW_BYTES;
  }

  streamReceived(stream: Stream, bytes: number): boolean {
    stream.receiveWindow -= bytes;
    return stream.receiveWindow >= 0;
  }

  /**
   * Opens a stream's window: again when half of it is used, and for the missing rest of a message that has begun. Does
   * nothing while the client does not take what the server sends on the stream.
   */
  creditStream(stream: Stream): void {
    if (stream.remoteClosed || stream.longTurn !== undefined || stream.congested) return;
    const { receiveWindow, missingBytes } = stream;
    if (missingBytes > STREAM_WINDOW_BYTES && missingBytes > receiveWindow) {
      stream.longTurn = new LongTurn(stream, missingBytes);
      this.#longLine.push(stream.longTurn);
      this.#advance();
    } else if (receiveWindow <= STREAM_WINDOW_BYTES / 2 || receiveWindow < missingBytes) {
      this.#open(stream, STREAM_WINDOW_BYTES);
    }
  }

  /** Padding needs no processing, so its window is returned at once. */
  creditPadding(stream: Stream | undefined, bytes: number): void {
    this.#window += bytes;
    this.#update(0, bytes);
    if (stream === undefined || stream.remoteClosed) return;
    stream.receiveWindow += bytes;
    this.#update(stream.id, bytes);
  }

  /** The long message of the stream is complete, or the stream is gone. */
  longDone(stream: Stream): void {
    const turn = stream.longTurn;
    if (turn === undefined) return;
    stream.longTurn = undefined;
    if (turn.queued) this.#longLine.remove(turn);
    else this.#longBytes -= turn.bytes;
    this.#advance();
  }

  /** The connection is lost or ends: no waiting message gets a window. */
  end(): void {
    this.#ended = true;
  }

  #advance(): void {
    for (let next = this.#longLine.first; next !== undefined && !this.#ended; next = this.#longLine.first) {
      if (this.#longBytes > 0 && this.#longBytes + next.bytes > this.#longMax) return;
      this.#longLine.remove(next);
      this.#longBytes += next.bytes;
      this.#open(next.stream, next.stream.missingBytes);
    }
  }

  #open(stream: Stream, window: number): void {
    if (window <= stream.receiveWindow) return;
    this.#update(stream.id, window - stream.receiveWindow);
    stream.receiveWindow = window;
  }
}
