import type { Clock } from '@engram/core';
import { CLIENT_PREFACE, DEFAULT_MAX_FRAME_BYTES, ErrorCode, FrameReader, Http2Error } from '@engram/http2';
import type { LoopWatch, TransportShare } from '@engram/loop';
import { OUTPUT_HELD_MAX_BYTES } from './limits.ts';

const preface = Buffer.from(CLIENT_PREFACE, 'latin1');

/** The clock is read after this many frames: reading it costs a tenth of a frame, and a reset may end a call that has much. */
const framesBetweenLooks = 8;

const NO_SLICE = -1;

/** The part of a socket that an intake uses. */
interface Source {
  on(event: 'data', take: (chunk: Buffer) => void): unknown;
  pause(): unknown;
  resume(): unknown;
  isPaused(): boolean;
  /** It is closed, or will be. */
  readonly destroyed: boolean;
}

/** Receives the frames of a client. */
export interface IntakeOwner {
  /** A slice of work begins. Frames sent until `sliceEnded` leave together. */
  sliceBegan(nowMs: number): void;
  frame(reader: FrameReader): void;
  /** The last frame is not finished, because its messages took more than the slice. */
  readonly unfinished: boolean;
  /** Continues the unfinished frame. */
  resume(): void;
  /** The connection must end. No further input is taken. */
  fault(error: unknown): void;
  sliceEnded(): void;
  /**
   * Bytes that are gathered and not given to the kernel. They grow by answers to frames, which no flow-control window
   * limits.
   */
  readonly unsentBytes: number;
}

/**
 * Takes the frames of a client in bounded slices of the time that all connections share in a turn of the event loop
 * (`TransportShare`). Takes none while the client leaves too many sent bytes unread. grpc-go stops reading for the same
 * reason (internal/transport/controlbuf.go: throttle): answers to frames have no flow-control window, so only the
 * client's reading can bound them.
 */
export class Intake {
  readonly #socket: Source;
  readonly #clock: Clock;
  readonly #owner: IntakeOwner;
  readonly #watch: LoopWatch;
  readonly #turn: TransportShare;
  readonly #reader = new FrameReader(DEFAULT_MAX_FRAME_BYTES);
  /** Chunks that arrived while no input was taken: a paused socket may still emit the data it has. */
  #chunks: Buffer[] = [];
  /** Bytes of the preface that have arrived. */
  #prefaceBytes = 0;
  #state: 'flowing' | 'next-slice' | 'unsent' | 'ended' = 'flowing';

  #sliceEndMs = 0;
  #sliceMs = 0;
  /** The time in this slice that handlers reported. */
  #workedMs = 0;
  /**
   * When the clock was last read in this slice. Always a number, because V8 would otherwise allocate an object for each
   * value.
   */
  #lookMs = NO_SLICE;

  constructor(socket: Source, clock: Clock, turn: TransportShare, watch: LoopWatch, owner: IntakeOwner) {
    this.#turn = turn;
    this.#socket = socket;
    this.#clock = clock;
    this.#watch = watch;
    this.#owner = owner;
    socket.on('data', this.#onData);
  }

  /** Later input is dropped. */
  end(): void {
    this.#state = 'ended';
    this.#chunks = [];
    this.#socket.resume();
  }

  /** To be called when bytes have left. */
  sent(): void {
    if (this.#state !== 'unsent' || this.#behind()) return;
    this.#state = 'next-slice';
    this.#turn.waitForFrames(this.#slice);
  }

  /** The slice is used up. Code that works on a frame should stop where it can. */
  get sliceSpent(): boolean {
    const nowMs = this.#clock.nowMs();
    if (this.#lookMs !== NO_SLICE) this.#lookMs = nowMs;
    return nowMs >= this.#sliceEndMs;
  }

  /**
   * Adds the time that a handler took, until `nowMs`. Between two readings of the clock, one frame of a request may cost
   * as much as a thousand others.
   */
  worked(ms: number, nowMs: number): void {
    this.#workedMs += ms;
    if (this.#lookMs !== NO_SLICE) this.#lookMs = nowMs;
  }

  /** The time when the clock was last read in this slice. Between two slices, the current time. */
  get lookMs(): number {
    return this.#lookMs === NO_SLICE ? this.#clock.nowMs() : this.#lookMs;
  }

  readonly #onData = (chunk: Buffer): void => {
    if (this.#state === 'ended') return;
    this.#chunks.push(chunk);
    if (this.#state !== 'flowing') return;
    if (this.#turn.framesSpent) {
      this.#state = 'next-slice';
      this.#proceed();
    } else {
      this.#slice();
    }
  };

  // Methods, because V8 calls its runtime for each use of a private getter, and these are called for each frame.
  #behind(): boolean {
    return this.#owner.unsentBytes > OUTPUT_HELD_MAX_BYTES;
  }

  readonly #slice = (): void => {
    if (this.#state === 'ended' || this.#socket.destroyed) return;
    this.#state = 'flowing';
    const [startMs, reportedMs] = [this.#clock.nowMs(), this.#watch.reportedMs];
    this.#turn.inputComes(startMs);
    this.#sliceMs = this.#turn.frameSliceMs;
    this.#sliceEndMs = startMs + this.#sliceMs;
    this.#workedMs = 0;
    this.#lookMs = startMs;
    this.#owner.sliceBegan(startMs);
    try {
      const next = this.#take();
      if (!this.#ended()) this.#state = next;
    } catch (error) {
      this.#owner.fault(error);
    }
    this.#lookMs = NO_SLICE;
    this.#owner.sliceEnded();
    // Time that was reported for handlers is not counted for the frames.
    const tookMs = this.#clock.nowMs() - startMs;
    this.#turn.spendOnFrames(tookMs);
    const ms = tookMs - (this.#watch.reportedMs - reportedMs);
    if (ms > this.#watch.budgetMs) this.#watch.stretched('frames', ms);
    this.#proceed();
  };

  /** A method, because the code that works on a frame may end the intake. */
  #ended(): boolean {
    return this.#state === 'ended';
  }

  #proceed(): void {
    if (this.#state === 'flowing') {
      if (this.#socket.isPaused()) this.#socket.resume();
    } else if (this.#state !== 'ended') {
      this.#socket.pause();
      // Some of the unsent bytes may have left with the slice.
      if (this.#state === 'unsent' && !this.#behind()) this.#state = 'next-slice';
      if (this.#state === 'next-slice') this.#turn.waitForFrames(this.#slice);
    }
  }

  /** Works until there is no further frame, or until it must stop for now. */
  #take(): 'flowing' | 'next-slice' | 'unsent' {
    for (let frames = 1; ; frames += 1) {
      if (this.#owner.unfinished) this.#owner.resume();
      else if (this.#next()) this.#owner.frame(this.#reader);
      else return 'flowing';
      if (this.#ended()) return 'flowing';
      if (this.#behind()) return 'unsent';
      if (this.#owner.unfinished || this.#workedMs >= this.#sliceMs) return 'next-slice';
      if (frames % framesBetweenLooks === 0 && this.sliceSpent) return 'next-slice';
    }
  }

  /** Whether another frame has arrived. */
  #next(): boolean {
    while (!this.#reader.next()) {
      const chunk = this.#chunks.shift();
      if (chunk === undefined) return false;
      this.#reader.push(this.#prefaceBytes === preface.length ? chunk : this.#takePreface(chunk));
    }
    return true;
  }

  /** Returns the bytes after the preface. */
  #takePreface(chunk: Buffer): Buffer {
    const bytes = Math.min(preface.length - this.#prefaceBytes, chunk.length);
    if (chunk.compare(preface, this.#prefaceBytes, this.#prefaceBytes + bytes, 0, bytes) !== 0) {
      throw new Http2Error(ErrorCode.PROTOCOL_ERROR, 'not the preface of HTTP/2');
    }
    this.#prefaceBytes += bytes;
    return chunk.subarray(bytes);
  }
}
