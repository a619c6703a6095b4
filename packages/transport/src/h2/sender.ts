import type { Socket } from 'node:net';
import { LinkedQueue } from '@engram/core';
import {
  DEFAULT_MAX_FRAME_BYTES,
  DEFAULT_WINDOW_BYTES,
  Flag,
  FRAME_HEADER_BYTES,
  FrameType,
  isLong,
  type Message,
  putFrameHeader,
  putUint32,
} from '@engram/wire';
import { deflate } from '../grpc/gzip.ts';
import { MESSAGE_PREFIX_BYTES } from '../grpc/message-assembler.ts';
import type { AbuseBudget } from './abuse-budget.ts';
import type { Flushable, Flusher } from './flusher.ts';
import { LastData } from './last-data.ts';
import { BATCH_MAX_BYTES } from './limits.ts';
import { COPY_MAX_BYTES, Output } from './output.ts';
import { ResponseFrames } from './response-frames.ts';
import { SendQueue } from './send-queue.ts';
import type { SlabPool } from './slab-pool.ts';
import type { StatusEnd, Stream, StreamEnd } from './stream.ts';

/** What the sender tells its connection. */
export interface SenderOwner {
  /** The last frame of the stream is written. */
  streamSent(stream: Stream): void;
  /** The kernel has taken a batch; there may be room again. */
  batchTaken(): void;
}

/** What senders of one server share. */
export interface SenderCommons {
  readonly slabs: SlabPool;
  readonly flusher: Flusher;
}

/**
 * All that leaves a connection. What the windows and the batch allow is written at once; the rest waits in the queue
 * of its stream, and streams with something to send take turns, a frame each. Bytes in queues count in `queuedBytes`.
 */
export class Sender implements Flushable {
  readonly frames = new ResponseFrames();
  /** What the client lets us send on all streams, and on a new one. */
  window = DEFAULT_WINDOW_BYTES;
  initialWindow = DEFAULT_WINDOW_BYTES;
  frameMax = DEFAULT_MAX_FRAME_BYTES;
  queuedBytes = 0;
  /** HEADERS or DATA went out; the judge of pings asks and resets it. */
  sentSincePing = false;
  /** When DATA last moved, or nothing waited. Control frames do not count: who pings but does not read is stalled. */
  progressMs: number;

  readonly #output: Output;
  readonly #owner: SenderOwner;
  readonly #flusher: Flusher;
  readonly #budget: AbuseBudget;
  readonly #nowMs: () => number;
  readonly #line = new LinkedQueue<Stream>();
  #counted: Stream[] = [];
  #flying: Stream[] = [];
  #corked = false;
  #ended = false;
  /** The flusher knows that there is something to send, or that an answer is among it. */
  #announced: Announced = ANNOUNCED_NOTHING;
  readonly #lastData = new LastData();
  /** The batch that gathers, and the one that flies, has DATA. */
  #dataMoved = false;
  #batchMoves = false;

  constructor(socket: Socket, commons: SenderCommons, owner: SenderOwner, budget: AbuseBudget, nowMs: () => number) {
    this.#output = new Output(socket, commons.slabs, this.#taken);
    this.#owner = owner;
    this.#flusher = commons.flusher;
    this.#budget = budget;
    this.#nowMs = nowMs;
    this.progressMs = nowMs();
  }

  /** Bytes that wait here, wherever. */
  get backlogBytes(): number {
    return this.queuedBytes + this.#output.pendingBytes;
  }

  /** Bytes that no window holds back: they wait for the kernel to take what was written before. */
  get unsentBytes(): number {
    return this.#output.pendingBytes;
  }

  /** Something waits for the client to read or to open a window. */
  get waits(): boolean {
    return this.queuedBytes > 0 || this.#output.writing;
  }

  /** Nothing is left that the kernel has not taken. */
  get idle(): boolean {
    return (this.queuedBytes === 0 || this.#ended) && !this.#output.writing && this.#output.pendingBytes === 0;
  }

  /** Streams say no more; what is written already, and control frames, still leave. */
  end(): void {
    this.#ended = true;
  }

  /** Until `uncork` nothing is sent: one chunk's answers leave together. */
  cork(): void {
    this.#corked = true;
  }

  uncork(): void {
    this.#corked = false;
    this.flush();
  }

  flush(): void {
    this.#announced = ANNOUNCED_NOTHING;
    this.#takeTurns();
    const output = this.#output;
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

  /** A frame that flow control does not know. The bytes must not change. */
  control(frame: Buffer): void {
    this.#output.put(frame);
    this.#touch();
  }

  /** The whole answer to a call that succeeded: head, message, trailers. */
  unary(stream: Stream, message: Message, messageBytes: number): void {
    if (this.#ended) return;
    const dataBytes = MESSAGE_PREFIX_BYTES + messageBytes;
    if (dataBytes > COPY_MAX_BYTES || stream.answerForm !== undefined || !this.#mayWriteNow(stream, dataBytes)) {
      this.message(stream, message, messageBytes);
      this.finish(stream, ok);
      return;
    }
    this.#touch(ANNOUNCED_ANSWER);
    const head = this.frames.head();
    this.#sharedFrame(head, stream.id);
    this.#dataHeader(stream, dataBytes, 0);
    this.#prefix(0, messageBytes);
    this.#write(message);
    this.#sharedFrame(this.frames.ok(), stream.id);
    this.#streamEnded(stream);
  }

  /** One message of a stream, its head before it if that was not sent. */
  message(stream: Stream, message: Message, messageBytes: number): void {
    if (this.#ended) return;
    if (!stream.headSent) this.#head(stream);
    if (stream.answerForm?.gzip === true) {
      const compressed = deflate(message);
      if (compressed !== undefined) {
        this.#message(stream, 1, compressed, compressed.length);
        return;
      }
    }
    this.#message(stream, 0, message, messageBytes);
  }

  #message(stream: Stream, compressedFlag: number, message: Message, messageBytes: number): void {
    const dataBytes = MESSAGE_PREFIX_BYTES + messageBytes;
    if (this.#mayWriteNow(stream, dataBytes)) {
      const last = this.#lastData;
      if (last.follows(stream, dataBytes, this.#output)) this.#lengthen(last, stream, dataBytes);
      else this.#openData(last, stream, dataBytes);
      this.#prefix(compressedFlag, messageBytes);
      this.#write(message);
      last.end = this.#output.pendingBytes;
      this.#budget.earn();
      this.#touch();
      return;
    }
    const prefix = Buffer.allocUnsafe(MESSAGE_PREFIX_BYTES);
    prefix[0] = compressedFlag;
    putUint32(prefix, 1, messageBytes);
    stream.queue ??= new SendQueue();
    stream.queue.push(prefix);
    if (message instanceof Uint8Array) stream.queue.push(message);
    else if (isLong(message)) stream.queue.pushLong(message);
    else for (const piece of message) stream.queue.push(piece);
    this.#queued(stream, dataBytes);
  }

  /** Bytes of a plain HTTP answer, behind its head. */
  data(stream: Stream, bytes: Uint8Array): void {
    if (this.#ended) return;
    stream.queue ??= new SendQueue();
    stream.queue.push(bytes);
    this.#queued(stream, bytes.length);
  }

  /** Ends our side behind what is queued. */
  finish(stream: Stream, end: StreamEnd): void {
    if (this.#ended) return;
    stream.ending = end;
    if (stream.queue === undefined || stream.queue.bytes === 0) this.#writeEnd(stream);
  }

  /** The client opened the stream's window. */
  resume(stream: Stream): void {
    if (stream.queue !== undefined && stream.queue.bytes > 0) this.#joinLine(stream);
  }

  /** The stream is gone: what waits in its queue is dropped. */
  forget(stream: Stream): void {
    stream.ending = undefined;
    if (stream.queue === undefined) return;
    this.queuedBytes -= stream.queue.bytes;
    stream.queue.clear();
    if (stream.queued) this.#line.remove(stream);
  }

  #mayWriteNow(stream: Stream, dataBytes: number): boolean {
    return (
      dataBytes <= stream.sendWindow &&
      dataBytes <= this.window &&
      dataBytes <= this.frameMax &&
      this.#line.first === undefined &&
      (stream.queue === undefined || stream.queue.bytes === 0) &&
      this.#output.pendingBytes < BATCH_MAX_BYTES
    );
  }

  #queued(stream: Stream, bytes: number): void {
    if (this.queuedBytes === 0) this.progressMs = this.#nowMs();
    this.queuedBytes += bytes;
    if (stream.sendWindow > 0) this.#joinLine(stream);
  }

  #joinLine(stream: Stream): void {
    this.#touch();
    if (!stream.queued) this.#line.push(stream);
  }

  #takeTurns(): void {
    const line = this.#line;
    while (line.first !== undefined && !this.#ended && this.window > 0 && this.#output.pendingBytes < BATCH_MAX_BYTES) {
      const stream = line.first;
      line.remove(stream);
      this.#takeTurn(stream);
    }
  }

  #takeTurn(stream: Stream): void {
    const { queue } = stream;
    if (queue === undefined || queue.bytes === 0 || stream.sendWindow <= 0) return;
    const bytes = Math.min(queue.bytes, this.frameMax, this.window, stream.sendWindow);
    this.#dataHeader(stream, bytes, 0);
    queue.move(bytes, this.#output);
    this.queuedBytes -= bytes;
    // Not for less: whoever opens windows byte by byte makes us send frames of a byte (CVE-2019-9511).
    if (bytes >= earningFrameBytes) this.#budget.earn();
    if (queue.bytes > 0) {
      if (stream.sendWindow > 0) this.#joinLine(stream);
    } else if (stream.ending !== undefined) {
      this.#writeEnd(stream);
    }
  }

  #dataHeader(stream: Stream, bytes: number, flags: number): void {
    const output = this.#output;
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

  /** A frame that may grow by the stream's next message. */
  #openData(last: LastData, stream: Stream, bytes: number): void {
    const output = this.#output;
    output.room(FRAME_HEADER_BYTES);
    last.open(stream, bytes, output);
    this.#dataHeader(stream, bytes, 0);
  }

  #lengthen(last: LastData, stream: Stream, bytes: number): void {
    last.lengthen(bytes);
    stream.sendWindow -= bytes;
    this.window -= bytes;
    if (stream.counted) stream.batchBytes += bytes;
  }

  #write(message: Message): void {
    if (message instanceof Uint8Array) this.#output.put(message);
    else if (isLong(message)) this.#output.pull(message, message.bytes);
    else for (const piece of message) this.#output.put(piece);
  }

  #head(stream: Stream): void {
    stream.headSent = true;
    if (stream.answerForm === undefined) this.#sharedFrame(this.frames.head(), stream.id);
    else this.control(this.frames.headOf(stream.id, stream.answerForm));
  }

  #prefix(compressedFlag: number, messageBytes: number): void {
    const output = this.#output;
    output.room(MESSAGE_PREFIX_BYTES);
    output.slab[output.at] = compressedFlag;
    output.at = putUint32(output.slab, output.at + 1, messageBytes);
  }

  #sharedFrame(frame: Buffer, streamId: number): void {
    const output = this.#output;
    output.room(frame.length);
    const { slab, at } = output;
    for (let index = 0; index < frame.length; index += 1) slab[at + index] = frame[index]!;
    putUint32(slab, at + 5, streamId);
    output.at = at + frame.length;
    this.sentSincePing = true;
    this.#touch();
  }

  #writeEnd(stream: Stream): void {
    const { ending: end } = stream;
    if (end === undefined) return;
    if (end.kind === 'data') this.#dataHeader(stream, 0, Flag.END_STREAM);
    else if (!stream.headSent) this.#trailersOnly(stream, end);
    else if (end.code === 0) this.#sharedFrame(this.frames.ok(), stream.id);
    else this.control(this.frames.trailers(stream.id, end.code, end.message));
    this.sentSincePing = true;
    this.#streamEnded(stream);
  }

  #trailersOnly(stream: Stream, { httpStatus, code, message }: StatusEnd): void {
    this.control(this.frames.trailersOnly(stream.id, httpStatus, code, message, stream.answerForm));
  }

  #streamEnded(stream: Stream): void {
    stream.localClosed = true;
    stream.ending = undefined;
    this.#budget.earn();
    this.#touch(ANNOUNCED_ANSWER);
    this.#owner.streamSent(stream);
  }

  #noteProgress(): void {
    if (this.#batchMoves || this.queuedBytes === 0) this.progressMs = this.#nowMs();
  }

  #touch(what: Announced = ANNOUNCED_BYTES): void {
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
    this.#owner.batchTaken();
    if (!this.#corked) this.flush();
  };
}

type Announced = number;
const ANNOUNCED_NOTHING: Announced = 0;
const ANNOUNCED_BYTES: Announced = 1;
const ANNOUNCED_ANSWER: Announced = 2;

const earningFrameBytes = 1024;
const ok: StreamEnd = { kind: 'status', code: 0, message: '', httpStatus: 200 };
