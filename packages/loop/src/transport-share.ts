import { type Clock, Fifo } from '@engram/core';
import { ShortAnswers } from './short-answers.ts';
import { type TurnInput, unmeasuredInput } from './turn-input.ts';
import {
  FRAMES_PHASE_MS,
  LATE_PHASE_MS,
  LONG_OUTPUT_REST_MS_MAX,
  LONG_OUTPUT_REST_TIMES,
  TRANSPORT_PHASE_MS,
} from './turn-parts.ts';

/** Time that the frames of one connection may take at once while others wait. */
export const FRAMES_SHARED_SLICE_MS = 1;
/** Below this time no renewal is scheduled: on a quiet node, a request should not cost an extra turn of the event loop. */
const RENEWED_FROM_MS = FRAMES_PHASE_MS / 2;

/**
 * The time that the connections of all listeners may take together in one phase of a turn of the event loop: to work on frames, and to
 * write. A turn may bring a chunk on each of a thousand connections, and what answers them leaves in the same turn. Whoever
 * comes when the time is used up waits, in order of arrival: frames for frames, writing for writing. They go on behind the input
 * of the turn, which leaves the phase of the next input to those who come then.
 */
export class TransportShare {
  readonly shortAnswers = new ShortAnswers();
  readonly #clock: Pick<Clock, 'soon'>;
  readonly #input: TurnInput;
  /** The phase is that of input, not the one behind it. */
  #inputPhase = true;
  /** What the phase has: TRANSPORT_PHASE_MS, or less if the input takes longer than that. */
  #phaseMs = TRANSPORT_PHASE_MS;
  #spentMs = 0;
  /** A part of it. */
  #framesMs = 0;
  /** The part of long output, in a turn. */
  #longMs = 0;
  #planned = false;
  /** Frames that took longer than they may have left no time for the writing that waits: next time it goes first. */
  #writesFirst = false;
  readonly #frames = new Fifo<() => void>();
  readonly #writes = new Fifo<() => void>();

  constructor(clock: Pick<Clock, 'soon'>, input: TurnInput = unmeasuredInput) {
    this.#clock = clock;
    this.#input = input;
  }

  /** No more frames in this phase. */
  get framesSpent(): boolean {
    return this.#framesMs >= FRAMES_PHASE_MS || this.#spentMs >= this.#phaseMs;
  }

  /** The time that the frames of one connection may take from now on: less while others wait. Only before `framesSpent`. */
  get frameSliceMs(): number {
    const leftMs = Math.min(FRAMES_PHASE_MS - this.#framesMs, this.#phaseMs - this.#spentMs);
    return this.#frames.length === 0 ? leftMs : Math.min(leftMs, FRAMES_SHARED_SLICE_MS);
  }

  /** The time left for writing; 0 or less if none is. */
  get writeMs(): number {
    return this.#phaseMs - this.#spentMs;
  }

  /** No further batch of a long output in this turn. */
  get longSpent(): boolean {
    return this.#longMs >= this.shortAnswers.parts.outputMs || this.#spentMs >= this.#phaseMs;
  }

  /**
   * How long an output of many answers rests behind the long output of this turn; 0 while no client waits for a short answer. Long
   * writes bring stalls of milliseconds in the kernel, and keep the cores of all clients busy: a small part of a turn alone leaves
   * a request of another client waiting three times as long.
   */
  get longRestMs(): number {
    if (!this.shortAnswers.awaited) return 0;
    return Math.min(LONG_OUTPUT_REST_MS_MAX, Math.max(1, LONG_OUTPUT_REST_TIMES * this.#longMs));
  }

  /** Input comes, at a time that was just read. */
  inputComes(nowMs: number): void {
    this.#input.comes(nowMs);
  }

  spendOnFrames(ms: number): void {
    this.#framesMs += ms;
    this.#spend(ms);
  }

  spendOnWriting(ms: number): void {
    this.#spend(ms);
  }

  spendOnLong(ms: number): void {
    this.#longMs += ms;
    this.#spend(ms);
  }

  /** Calls `go` behind the input of a turn that has time left for frames. */
  waitForFrames(go: () => void): void {
    this.#frames.push(go);
    this.#planRenewal();
  }

  /** Calls `go` behind the input of a turn that has time left for writing. */
  waitForWriting(go: () => void): void {
    this.#writes.push(go);
    this.#planRenewal();
  }

  #spend(ms: number): void {
    this.#spentMs += ms;
    if (this.#spentMs < RENEWED_FROM_MS) return;
    if (this.#inputPhase) {
      const leftMs = this.#leftMs(this.#input.soFarMs()) - LATE_PHASE_MS;
      this.#phaseMs = Math.min(this.#phaseMs, this.#spentMs + leftMs);
    }
    this.#planRenewal();
  }

  /** What is left of a turn with such an input, but for jobs. */
  #leftMs(inputMs: number): number {
    const { turnMs, jobsMs, sliceMs } = this.shortAnswers.parts;
    return turnMs - inputMs - jobsMs - sliceMs;
  }

  #planRenewal(): void {
    if (this.#planned) return;
    this.#planned = true;
    this.#clock.soon(this.#renew);
    // Behind what follows from it at once. The next phase is that of input.
    this.#clock.soon(this.#begin);
  }

  readonly #begin = (): void => {
    this.#inputPhase = true;
    this.#beginPhase(TRANSPORT_PHASE_MS);
    this.#input.partEnded();
  };

  #beginPhase(ms: number): void {
    this.#phaseMs = ms;
    this.#spentMs = 0;
    this.#framesMs = 0;
  }

  readonly #renew = (): void => {
    this.#planned = false;
    if (this.#longMs > 0) this.shortAnswers.turn();
    this.#longMs = 0;
    this.#inputPhase = false;
    this.#beginPhase(Math.min(TRANSPORT_PHASE_MS, Math.max(LATE_PHASE_MS, this.#leftMs(this.#input.tookMs))));
    const writesFirst = this.#writesFirst;
    if (writesFirst) this.#goOnWriting();
    // Frames have less time of a phase than all together, so both go on. Those that do not finish wait again, behind all that
    // wait now.
    for (let left = this.#frames.length; left > 0 && !this.framesSpent; left -= 1) this.#frames.shift()!();
    this.#writesFirst = !writesFirst && this.#writes.length > 0 && this.writeMs <= 0;
    if (!writesFirst) this.#goOnWriting();
    if (this.#frames.length + this.#writes.length > 0) this.#planRenewal();
  };

  #goOnWriting(): void {
    for (let left = this.#writes.length; left > 0 && this.writeMs > 0; left -= 1) this.#writes.shift()!();
  }
}
