import type { Clock, LoopWatch } from '@engram/core';
import { CLIENT_PREFACE, DEFAULT_MAX_FRAME_BYTES, ErrorCode, FrameReader, Http2Error } from '@engram/wire';
import type { IntakeTurn } from './intake-turn.ts';
import { OUTPUT_HELD_MAX_BYTES } from './limits.ts';

const preface = Buffer.from(CLIENT_PREFACE, 'latin1');

/** The clock is asked after so many frames: asking costs a tenth of a frame. */
const framesBetweenLooks = 32;

const NO_SLICE = -1;

/** Of a socket. */
export interface Source {
  on(event: 'data', take: (chunk: Buffer) => void): unknown;
  pause(): unknown;
  resume(): unknown;
  isPaused(): boolean;
}

/** What the bytes of a client lead to. */
export interface IntakeOwner {
  /** A slice of work begins; what is answered until `sliceEnded` leaves together. */
  sliceBegan(nowMs: number): void;
  frame(reader: FrameReader): void;
  /** The last frame is not through: its messages took more than the slice. */
  readonly unfinished: boolean;
  /** Goes on with it. */
  goOn(): void;
  /** The connection must end: nothing is taken any more. */
  fault(error: unknown): void;
  sliceEnded(): void;
  /** Bytes that are written and not taken by the kernel: they grow by answers to frames, whatever the windows allow. */
  readonly unsentBytes: number;
}

/**
 * Takes the frames of a client, and never more than it should at a time: a slice of what all connections may take of a
 * turn of the event loop (`IntakeTurn`), and none while the client leaves so much of what we say in the socket. grpc-go stops reading for the same reason
 * (internal/transport/controlbuf.go: throttle): what a frame provokes has no window, so the client's own reading has to
 * bound it.
 */
export class Intake {
  readonly #socket: Source;
  readonly #clock: Clock;
  readonly #owner: IntakeOwner;
  readonly #watch: LoopWatch;
  readonly #turn: IntakeTurn;
  readonly #reader = new FrameReader(DEFAULT_MAX_FRAME_BYTES);
  /** Chunks that came while nothing was taken; sockets may give what they have when they are told to pause. */
  #chunks: Buffer[] = [];
  /** Bytes of the preface that have come. */
  #prefaceBytes = 0;
  #state: 'flowing' | 'next-slice' | 'unsent' | 'ended' = 'flowing';

  #sliceEndMs = 0;
  #sliceMs = 0;
  /** What handlers took of this slice, as far as it was told. */
  #workedMs = 0;
  /** When the clock was last asked in this slice. A number always, since V8 would make an object of each otherwise. */
  #lookMs = NO_SLICE;

  constructor(socket: Source, clock: Clock, turn: IntakeTurn, watch: LoopWatch, owner: IntakeOwner) {
    this.#turn = turn;
    this.#socket = socket;
    this.#clock = clock;
    this.#watch = watch;
    this.#owner = owner;
    socket.on('data', this.#onData);
  }

  /** What still comes is dropped. */
  end(): void {
    this.#state = 'ended';
    this.#chunks = [];
    this.#socket.resume();
  }

  /** Bytes have left. */
  sent(): void {
    if (this.#state !== 'unsent' || this.#behind()) return;
    this.#state = 'next-slice';
    this.#turn.wait(this.#slice);
  }

  /** The slice is used up: whoever works on a frame should stop where it can. */
  get sliceSpent(): boolean {
    const nowMs = this.#clock.nowMs();
    if (this.#lookMs !== NO_SLICE) this.#lookMs = nowMs;
    return nowMs >= this.#sliceEndMs;
  }

  /**
   * Whoever was called for a frame took so long: between two looks at the clock one frame of a request may be worth a
   * thousand others.
   */
  worked(ms: number, nowMs: number): void {
    this.#workedMs += ms;
    if (this.#lookMs !== NO_SLICE) this.#lookMs = nowMs;
  }

  /** What the clock said when it was last asked in this slice. Between two slices it is asked. */
  get lookMs(): number {
    return this.#lookMs === NO_SLICE ? this.#clock.nowMs() : this.#lookMs;
  }

  readonly #onData = (chunk: Buffer): void => {
    if (this.#state === 'ended') return;
    this.#chunks.push(chunk);
    if (this.#state !== 'flowing') return;
    if (this.#turn.spent) {
      this.#state = 'next-slice';
      this.#proceed();
    } else {
      this.#slice();
    }
  };

  // Methods: V8 calls its runtime for each use of a private getter, and these are asked for each frame.
  #behind(): boolean {
    return this.#owner.unsentBytes > OUTPUT_HELD_MAX_BYTES;
  }

  readonly #slice = (): void => {
    if (this.#state === 'ended') return;
    this.#state = 'flowing';
    const [startMs, toldMs] = [this.#clock.nowMs(), this.#watch.toldMs];
    this.#sliceMs = this.#turn.sliceMs;
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
    // What handlers were blamed for is not the frames' doing.
    const tookMs = this.#clock.nowMs() - startMs;
    this.#turn.spend(tookMs);
    const ms = tookMs - (this.#watch.toldMs - toldMs);
    if (ms > this.#watch.budgetMs) this.#watch.stretched('frames', ms);
    this.#proceed();
  };

  /** By now: whoever works on a frame may end it. */
  #ended(): boolean {
    return this.#state === 'ended';
  }

  #proceed(): void {
    if (this.#state === 'flowing') {
      if (this.#socket.isPaused()) this.#socket.resume();
    } else if (this.#state !== 'ended') {
      this.#socket.pause();
      // Some of it may have left with the slice.
      if (this.#state === 'unsent' && !this.#behind()) this.#state = 'next-slice';
      if (this.#state === 'next-slice') this.#turn.wait(this.#slice);
    }
  }

  /** Works until there is nothing more, or not now. */
  #take(): 'flowing' | 'next-slice' | 'unsent' {
    for (let frames = 1; ; frames += 1) {
      if (this.#owner.unfinished) this.#owner.goOn();
      else if (this.#next()) this.#owner.frame(this.#reader);
      else return 'flowing';
      if (this.#ended()) return 'flowing';
      if (this.#behind()) return 'unsent';
      if (this.#owner.unfinished || this.#workedMs >= this.#sliceMs) return 'next-slice';
      if (frames % framesBetweenLooks === 0 && this.sliceSpent) return 'next-slice';
    }
  }

  /** Whether another frame has come. */
  #next(): boolean {
    while (!this.#reader.next()) {
      const chunk = this.#chunks.shift();
      if (chunk === undefined) return false;
      this.#reader.push(this.#prefaceBytes === preface.length ? chunk : this.#takePreface(chunk));
    }
    return true;
  }

  /** Returns what is behind the preface. */
  #takePreface(chunk: Buffer): Buffer {
    const bytes = Math.min(preface.length - this.#prefaceBytes, chunk.length);
    if (chunk.compare(preface, this.#prefaceBytes, this.#prefaceBytes + bytes, 0, bytes) !== 0) {
      throw new Http2Error(ErrorCode.PROTOCOL_ERROR, 'not the preface of HTTP/2');
    }
    this.#prefaceBytes += bytes;
    return chunk.subarray(bytes);
  }
}
