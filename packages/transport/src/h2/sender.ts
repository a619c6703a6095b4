import type { Socket } from 'node:net';
import { LinkedQueue, type Share } from '@engram/core';
import {
  DEFAULT_MAX_FRAME_BYTES,
  DEFAULT_WINDOW_BYTES,
  Flag,
  FRAME_HEADER_BYTES,
  FrameType,
  putFrameHeader,
  putUint32,
} from '@engram/http2';
import { dropMessage, isLong, type Message } from '@engram/wire';
import type { AbuseBudget } from './abuse-budget.ts';
import type { Flushable, Flusher, LongOutput } from './flusher.ts';
import { HeaderWriter } from './header-writer.ts';
import { LastData } from './last-data.ts';
import { BATCH_MAX_BYTES } from './limits.ts';
import { Output } from './output.ts';
import { SendQueue } from './send-queue.ts';
import type { SlabPool } from './slab-pool.ts';
import type { Stream } from './stream.ts';

/** Receives the events of a sender. */
export interface SenderOwner {
  /** The last frame of the stream is written. */
  streamSent(stream: Stream): void;
  /** A message that has begun cannot be completed: the stream must be reset. */
  streamBroken(stream: Stream, cause: unknown): void;
  /** The kernel has taken a batch, so there may be room again. */
  batchTaken(): void;
}

/** What the senders of one server share. */
export interface SenderCommons {
  readonly slabs: SlabPool;
  readonly flusher: Flusher;
}

/**
 * Everything that a connection sends. Bytes that the windows and the batch allow are written at once. The rest waits in
 * the queue of its stream, and streams with queued bytes take turns, one frame each. `queuedBytes` is the sum over the
 * queues.
 */
export class Sender implements Flushable, LongOutput {
  readonly headers = new HeaderWriter();
  /** For callers that write the payload of a frame. No other write may happen between the frame's header and its end. */
  readonly output: Output;
  /** The client's window for all streams. */
  window = DEFAULT_WINDOW_BYTES;
  /** The client's window for a new stream. */
  initialWindow = DEFAULT_WINDOW_BYTES;
  frameMax = DEFAULT_MAX_FRAME_BYTES;
  queuedBytes = 0;
  /** HEADERS or DATA went out since the last ping. The ping check reads and resets it. */
  sentSincePing = false;
  /**
   * When DATA last moved, or nothing waited. Control frames do not count: a client that pings but does not read is
   * stalled.
   */
  progressMs: number;

  readonly #owner: SenderOwner;
  readonly #flusher: Flusher;
  readonly #budget: AbuseBudget;
  readonly #share: Share;
  readonly #nowMs: () => number;
  readonly #line = new LinkedQueue<Stream>();
  /** Memory that the queues take: less than `queuedBytes` if messages are encoded while they are sent. */
  #queuesHoldBytes = 0;
  #counted: Stream[] = [];
  #flying: Stream[] = [];
  #corked = false;
  #reservedBytes = 0;
  #ended = false;
  /** What the flusher knows: that there are bytes to send, or that an answer is among them. */
  #announced: Announced = ANNOUNCED_NOTHING;
  readonly #lastData = new LastData();
  /** Streams take turns: what they write leaves with the batch, and is no short answer. */
  #taking = false;
  /** Whether the batch that gathers contains DATA. */
  #dataMoved = false;
  /** Whether the batch in flight contains DATA. */
  #batchMoves = false;

  /** `share` is the connection's share of the answer budget. */
  constructor(
    socket: Socket,
    commons: SenderCommons,
    owner: SenderOwner,
    budget: AbuseBudget,
    share: Share,
    nowMs: () => number,
  ) {
    this.output = new Output(socket, commons.slabs, this.#taken);
    this.#owner = owner;
    this.#flusher = commons.flusher;
    this.#budget = budget;
    this.#share = share;
    this.#nowMs = nowMs;
    this.progressMs = nowMs();
  }

  /** Bytes of answers that are queued, gathered or in flight, and of answers that are being made. */
  get heldBytes(): number {
    return this.#queuesHoldBytes + this.output.pendingBytes + this.output.flyingBytes + this.#reservedBytes;
  }

  /**
   * Counts answers that are being made. When they are sent, the caller releases the reserved bytes with a negative
   * number.
   */
  reserve(bytes: number): void {
    this.#reservedBytes += bytes;
    this.#share.hold(this.heldBytes);
  }

  /** Bytes that wait for the kernel to take the previous batch. No flow-control window holds them back. */
  get unsentBytes(): number {
    return this.output.pendingBytes;
  }

  get takingTurns(): number {
    return this.#line.size;
  }

  /** Something waits for the client to read or to open a window. */
  get waits(): boolean {
    return this.queuedBytes > 0 || this.output.writing;
  }

  /** The kernel has taken everything. */
  get idle(): boolean {
    return (this.queuedBytes === 0 || this.#ended) && !this.output.writing && this.output.pendingBytes === 0;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Streams send no more. Bytes that are already written, and control frames, still leave. */
  end(): void {
    this.#ended = true;
  }

  /** Sends nothing until `uncork`, so that the answers to one chunk leave together. */
  cork(): void {
    this.#corked = true;
  }

  uncork(): void {
    this.#corked = false;
    this.flush();
  }

  /**
   * Sends what is gathered. Of queues that are longer than a batch nothing but in the part of a turn that long output has
   * (`Flusher.more`): each frame of a client that lists much brings a call of this.
   */
  flush(): void {
    this.#announced = ANNOUNCED_NOTHING;
    const long = this.queuedBytes > BATCH_MAX_BYTES;
    if (!long) this.#takeTurns();
    this.#write();
    // After a write `#taken` goes on.
    if (long && this.#line.first !== undefined && !this.output.writing && !this.#ended) this.#flusher.more(this);
  }

  flushLong(): void {
    this.#takeTurns();
    this.#write();
  }

  #write(): void {
    this.#share.hold(this.heldBytes);
    const { output } = this;
    if (output.writing || output.pendingBytes === 0) return;
    const counted = this.#counted;
    this.#counted = this.#flying;
    this.#flying = counted;
    for (const stream of counted) {
      stream.flyingBytes = stream.batchBytes;
      stream.batchBytes = 0;
    }
    this.#batchMoves = this.#dataMoved;
    this.#dataMoved = false;
    this.#noteProgress();
    this.#lastData.close();
    output.flush();
  }

  /** Sends a frame that is not subject to flow control. The caller must not change the bytes after this call. */
  control(frame: Buffer): void {
    this.output.put(frame);
    this.#touch();
  }

  /** Sends a copy of a frame that many streams share, with the stream's id filled in. */
  shared(frame: Buffer, streamId: number): void {
    const { output } = this;
    output.room(frame.length);
    const { slab, at } = output;
    for (let index = 0; index < frame.length; index += 1) slab[at + index] = frame[index]!;
    putUint32(slab, at + 5, streamId);
    output.at = at + frame.length;
    this.sentSincePing = true;
    this.#touch();
  }

  /** Whether this many bytes of DATA may be written now, in one frame. */
  fits(stream: Stream, bytes: number): boolean {
    return (
      !this.#ended &&
      bytes <= stream.sendWindow &&
      bytes <= this.window &&
      bytes <= this.frameMax &&
      this.#line.first === undefined &&
      (stream.queue === undefined || stream.queue.bytes === 0) &&
      this.output.pendingBytes < BATCH_MAX_BYTES
    );
  }

  /** The bytes written next are the answer to a call, so they leave before output without answers. */
  announceAnswer(): void {
    this.#touch(ANNOUNCED_ANSWER);
  }

  /** Writes the header of a DATA frame; the caller then writes its payload to `output`. Requires `fits`. */
  frame(stream: Stream, bytes: number): void {
    this.#dataHeader(stream, bytes, 0);
  }

  /**
   * Like `frame`, but extends the stream's last frame if nothing was written after it. The caller calls `joined` after
   * the payload.
   */
  join(stream: Stream, bytes: number): void {
    const last = this.#lastData;
    if (last.follows(stream, bytes, this.output)) {
      last.lengthen(bytes);
      stream.sendWindow -= bytes;
      this.window -= bytes;
      if (stream.counted) stream.batchBytes += bytes;
    } else {
      this.output.room(FRAME_HEADER_BYTES);
      last.open(stream, bytes, this.output);
      this.#dataHeader(stream, bytes, 0);
    }
  }

  joined(): void {
    this.#lastData.end = this.output.pendingBytes;
    this.#budget.earn();
    this.#touch();
  }

  /** Queues bytes that do not fit yet, followed by a message. */
  queue(stream: Stream, bytes: Uint8Array, message: Message = []): void {
    if (this.#ended) {
      dropMessage(message);
      return;
    }
    stream.queue ??= new SendQueue();
    const { queue } = stream;
    const [before, heldBefore] = [queue.bytes, queue.heldBytes];
    queue.push(bytes);
    if (message instanceof Uint8Array || isLong(message)) queue.push(message);
    else for (const piece of message) queue.push(piece);
    if (this.queuedBytes === 0) this.progressMs = this.#nowMs();
    this.queuedBytes += queue.bytes - before;
    this.#queuesHoldBytes += queue.heldBytes - heldBefore;
    // At once, because the calls of one chunk start one after another, and each first checks for room for its answer.
    this.#share.hold(this.heldBytes);
    if (stream.sendWindow > 0) this.#joinLine(stream);
  }

  /** Ends the server's side after the queued bytes. */
  finish(stream: Stream): void {
    if (this.#ended) return;
    stream.ending = true;
    if (stream.queue === undefined || stream.queue.bytes === 0) this.#writeEnd(stream);
  }

  /** Writes END_STREAM on a DATA frame without payload, for a stream without trailers. */
  endData(stream: Stream): void {
    this.#dataHeader(stream, 0, Flag.END_STREAM);
  }

  /** The stream's last frame is written. */
  streamEnded(stream: Stream): void {
    stream.localClosed = true;
    stream.ending = false;
    this.#budget.earn();
    this.#touch(ANNOUNCED_ANSWER);
    this.#owner.streamSent(stream);
  }

  /** The client opened the stream's window. */
  resume(stream: Stream): void {
    if (stream.queue !== undefined && stream.queue.bytes > 0) this.#joinLine(stream);
  }

  /** The stream is gone: its queued bytes are dropped. */
  forget(stream: Stream): void {
    stream.ending = false;
    if (stream.queue === undefined) return;
    this.queuedBytes -= stream.queue.bytes;
    this.#queuesHoldBytes -= stream.queue.heldBytes;
    stream.queue.clear();
    if (stream.queued) this.#line.remove(stream);
  }

  #joinLine(stream: Stream): void {
    if (stream.preparing) return;
    this.#touch();
    if (!stream.queued) this.#line.push(stream);
  }

  /** The stream leaves the line until its next bytes are available. */
  async #await(stream: Stream, ready: Promise<void>): Promise<void> {
    stream.preparing = true;
    try {
      await ready;
    } catch (cause) {
      if (!stream.gone) this.#owner.streamBroken(stream, cause);
      return;
    } finally {
      stream.preparing = false;
    }
    if (stream.queue === undefined || stream.queue.bytes === 0) return;
    if (!stream.queued) this.#line.push(stream);
    if (!this.#corked) this.#flusher.more(this);
  }

  #takeTurns(): void {
    const line = this.#line;
    this.#taking = true;
    while (line.first !== undefined && !this.#ended && this.window > 0 && this.output.pendingBytes < BATCH_MAX_BYTES) {
      const stream = line.first;
      line.remove(stream);
      this.#takeTurn(stream);
    }
    this.#taking = false;
  }

  #takeTurn(stream: Stream): void {
    const { queue } = stream;
    if (queue === undefined || queue.bytes === 0 || stream.sendWindow <= 0) return;
    const bytes = Math.min(queue.bytes, this.frameMax, this.window, stream.sendWindow);
    const ready = queue.prepare(bytes);
    if (ready !== undefined) {
      void this.#await(stream, ready);
      return;
    }
    const heldBefore = queue.heldBytes;
    this.#dataHeader(stream, bytes, 0);
    queue.move(bytes, this.output);
    this.queuedBytes -= bytes;
    this.#queuesHoldBytes += queue.heldBytes - heldBefore;
    // Not for shorter frames: a client that opens windows byte by byte makes the server send frames of one byte
    // (CVE-2019-9511).
    if (bytes >= earningFrameBytes) this.#budget.earn();
    if (queue.bytes > 0) {
      if (stream.sendWindow > 0) this.#joinLine(stream);
    } else if (stream.ending) {
      this.#writeEnd(stream);
    }
  }

  #dataHeader(stream: Stream, bytes: number, flags: number): void {
    const output = this.output;
    output.room(FRAME_HEADER_BYTES);
    output.at = putFrameHeader(output.slab, output.at, bytes, FrameType.DATA, flags, stream.id);
    stream.sendWindow -= bytes;
    this.window -= bytes;
    this.sentSincePing = true;
    this.#dataMoved = true;
    if (!stream.counted) return;
    if (stream.batchBytes === 0) this.#counted.push(stream);
    stream.batchBytes += FRAME_HEADER_BYTES + bytes;
  }

  #writeEnd(stream: Stream): void {
    stream.writeEnd();
    this.sentSincePing = true;
    this.streamEnded(stream);
  }

  #noteProgress(): void {
    if (this.#batchMoves || this.queuedBytes === 0) this.progressMs = this.#nowMs();
  }

  #touch(what: Announced = ANNOUNCED_BYTES): void {
    if (this.#taking) return;
    if (what === ANNOUNCED_ANSWER) this.#flusher.answers();
    if (this.#corked || this.#announced >= what) return;
    this.#announced = what;
    this.#flusher.add(this, what === ANNOUNCED_ANSWER);
  }

  readonly #taken = (): void => {
    this.#noteProgress();
    const flying = this.#flying;
    for (const stream of flying) {
      stream.flyingBytes = 0;
      stream.sent();
    }
    flying.length = 0;
    this.#share.hold(this.heldBytes);
    this.#owner.batchTaken();
    if (!this.#corked && (this.output.pendingBytes > 0 || this.#line.first !== undefined)) this.#flusher.more(this);
  };
}

type Announced = number;
const ANNOUNCED_NOTHING: Announced = 0;
const ANNOUNCED_BYTES: Announced = 1;
const ANNOUNCED_ANSWER: Announced = 2;

const earningFrameBytes = 1024;
