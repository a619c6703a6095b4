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
  /** What the window was, or is to be, opened for. */
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
 * What the client may send. Windows are opened again when half of them is used, so WINDOW_UPDATEs are rare: one for
 * 8 MiB on a connection, none at all for a stream with one request of usual size.
 *
 * A message longer than a stream's window gets the window for all its rest at once, but only LONG_MESSAGES_BYTES at a
 * time; others wait in line. So a client with a hundred long messages under way costs us a few of them, and none of
 * them stops for want of a window that another one holds.
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

  /** `update` sends a WINDOW_UPDATE; `share` is the connection's of what requests may hold. */
  constructor(messageMaxBytes: number, share: Share, update: (streamId: number, increment: number) => void) {
    this.#update = update;
    this.#share = share;
    this.#longMax = Math.max(LONG_MESSAGES_BYTES, messageMaxBytes);
  }

  /** What open streams hold of their requests: heads, parts of messages, and messages that no handler has yet. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** What a stream holds from now on. */
  hold(stream: Stream, bytes: number): void {
    if (stream.gone) return;
    this.#heldBytes += bytes - stream.heldBytes;
    stream.heldBytes = bytes;
  }

  /** The stream has ended: nothing that it still says counts. */
  streamGone(stream: Stream): void {
    this.longDone(stream);
    this.hold(stream, 0);
    stream.gone = true;
  }

  /** Above what the connection may hold, or the process together: who wants more fails. */
  get overdrawn(): boolean {
    if (this.#heldBytes <= REQUESTS_HELD_FREE_BYTES) return false;
    if (this.#heldBytes <= REQUESTS_HELD_MAX_BYTES && this.#share.mayGrow) return false;
    this.#share.refused();
    return true;
  }

  /** DATA came, padding included. False when the client had no right to send it. */
  received(bytes: number): boolean {
    this.#window -= bytes;
    return this.#window >= 0;
  }

  /** Opens the connection's window again. Not to be called while we have more than we can work on. */
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
   * Opens a stream's window as far as it should be open now: again when half of it is used, and for all that is missing
   * of the message that has begun. Not at all while the client does not take what we send on it.
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

  /** Padding is nobody's to work on: it is given back at once. */
  creditPadding(stream: Stream | undefined, bytes: number): void {
    this.#window += bytes;
    this.#update(0, bytes);
    if (stream === undefined || stream.remoteClosed) return;
    stream.receiveWindow += bytes;
    this.#update(stream.id, bytes);
  }

  /** The long message of the stream is complete, or its stream is gone. */
  longDone(stream: Stream): void {
    const turn = stream.longTurn;
    if (turn === undefined) return;
    stream.longTurn = undefined;
    if (turn.queued) this.#longLine.remove(turn);
    else this.#longBytes -= turn.bytes;
    this.#advance();
  }

  /** The connection is lost or ends: nobody is let in any more. */
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
