import type { Clock, Timer } from '@engram/core';
import type { LoopWatch } from '@engram/loop';
import type { MetricRegistry } from './metric-registry.ts';
import type { Sample } from './plain-histogram.ts';
import { commonMs, freeSpans, lastOf, type TimeSpan } from './time-span.ts';

/** The phase of work that was not reported. Its method is empty until the first call of the process begins. */
export const OTHER_PHASE = 'other';
/**
 * The phase of a stretch that would have been within the budget without the collector's pauses in it, and of a collection that was
 * asked for: V8 tells the pauses of that, and not what it does between them to give memory back.
 */
export const GC_PHASE = 'gc';
/** Turns of the event loop after which all pauses of a stretch have been reported. */
const TURNS_TO_REPORT = 3;
/** Pairs of phase and method that are counted separately. Further pairs are counted together. */
const CULPRITS_MAX = 256;

export interface Stretch {
  readonly phase: string;
  /** The path of a method, or an empty string. */
  readonly method: string;
  readonly ms: number;
}

/** Since the thread started. */
export interface LoopUsage {
  readonly cpuMs: number;
  /** Time in which the loop had nothing to do. */
  readonly idleMs: number;
}

export interface LoopMonitorOptions {
  readonly clock: Clock;
  readonly budgetMs: number;
  /** Interval of the timer that measures how late the loop is. */
  readonly intervalMs: number;
  /**
   * What the event loop's thread has used, so that other work on the machine does not count. If undefined, only elapsed
   * time counts.
   */
  readonly usage?: () => LoopUsage;
  /**
   * Calls `take` for each pause of the garbage collector, on `clock`, at most TURNS_TO_REPORT turns late. A pause does
   * not count for the work in which it happens: the collector runs whenever the young generation is full, and code
   * cannot yield during a pause. A stretch that is too long only because of pauses has the phase `gc`.
   */
  readonly observePauses?: (take: (pause: TimeSpan) => void) => Disposable;
  /** Called for each stretch above the budget. */
  readonly onStretch: (stretch: Stretch) => void;
}

interface Culprit {
  readonly labels: { readonly phase: string; readonly method: string };
  count: number;
  seconds: number;
  longestSeconds: number;
}

/**
 * Watches the event loop. Code that works on the loop reports how long it took and for which method. A timer finds time
 * that was not reported and attributes it to the call that began last.
 */
export class LoopMonitor implements LoopWatch, Disposable {
  readonly budgetMs: number;
  reportedMs = 0;
  readonly #options: LoopMonitorOptions;
  readonly #culprits = new Map<string, Culprit>();
  #timer: Timer | undefined;
  #dueMs = 0;
  /** Usage when the timer was set. */
  #usage: LoopUsage = { cpuMs: 0, idleMs: 0 };
  /** `reportedMs` when the timer was set. */
  #reportedBeforeMs = 0;
  /** The reported spans since the timer was set. */
  #reported: TimeSpan[] = [];
  readonly #observing: Disposable | undefined;
  /** Pauses that may overlap a stretch that is being judged or one that is running. */
  #pauses: TimeSpan[] = [];
  /** Start times of the stretches that are being judged, oldest first. */
  readonly #unjudged: number[] = [];
  #lastMethod = '';

  constructor(registry: MetricRegistry, options: LoopMonitorOptions) {
    this.#options = options;
    this.budgetMs = options.budgetMs;
    const each = (read: (culprit: Culprit) => number) => (): readonly Sample[] =>
      [...this.#culprits.values()].map((culprit) => ({ labels: culprit.labels, value: read(culprit) }));
    registry.counter(
      'engram_loop_stretches_total',
      'Stretches of work that kept the event loop for longer than --loop-budget.',
      each(({ count }) => count),
    );
    registry.counter(
      'engram_loop_stretch_seconds_total',
      'What these stretches took.',
      each(({ seconds }) => seconds),
    );
    registry.gauge(
      'engram_loop_longest_stretch_seconds',
      'The longest of these stretches.',
      each(({ longestSeconds }) => longestSeconds),
    );
    this.#observing = options.observePauses?.((pause) => this.#pauses.push(pause));
    this.#arm();
  }

  began(method: string): void {
    this.#lastMethod = method;
  }

  stretched(phase: string, ms: number, method = ''): void {
    this.reportedMs += ms;
    const nowMs = this.#options.clock.nowMs();
    // Excludes time that was already reported for other work.
    const spans = lastOf(freeSpans(Math.min(this.#armedMs, nowMs - ms), nowMs, this.#reported), ms);
    const fromMs = spans[0]?.fromMs ?? nowMs;
    this.#reported = this.#reported.filter((span) => span.toMs <= fromMs);
    this.#reported.push({ fromMs, toMs: nowMs });
    const ownMs = this.#ran(ms);
    if (ownMs > this.budgetMs) this.#judge({ phase, ms: ownMs, method }, spans, ownMs / ms);
  }

  [Symbol.dispose](): void {
    this.#timer?.cancel();
    this.#observing?.[Symbol.dispose]();
  }

  get #armedMs(): number {
    return this.#dueMs - this.#options.intervalMs;
  }

  #arm(): void {
    const { clock, intervalMs, usage } = this.#options;
    this.#dueMs = clock.nowMs() + intervalMs;
    if (usage !== undefined) this.#usage = usage();
    this.#reportedBeforeMs = this.reportedMs;
    this.#reported = [];
    this.#timer = clock.after(intervalMs, () => this.#look());
  }

  #look(): void {
    const lateMs = this.#options.clock.nowMs() - this.#dueMs;
    const unreportedMs = lateMs - (this.reportedMs - this.#reportedBeforeMs);
    const ownMs = unreportedMs > this.budgetMs ? this.#ran(unreportedMs) : 0;
    if (ownMs > this.budgetMs) {
      const spans = freeSpans(this.#armedMs, this.#options.clock.nowMs(), this.#reported);
      this.#judge({ phase: OTHER_PHASE, ms: ownMs, method: this.#lastMethod }, spans, ownMs / unreportedMs);
    }
    this.#arm();
    const neededMs = this.#unjudged[0] ?? this.#armedMs;
    if (this.#pauses.length > 0) this.#pauses = this.#pauses.filter(({ toMs }) => toMs > neededMs);
  }

  /**
   * Notes the stretch once the pauses in its time are known. `share` is the CPU time in its elapsed time. Pauses are told in elapsed
   * time: a collection that waits for its helpers or for a core must not take away CPU time that code has used beside it.
   */
  #judge(stretch: Stretch, spans: readonly TimeSpan[], share: number): void {
    if (this.#observing === undefined) {
      this.#note(stretch);
      return;
    }
    this.#unjudged.push(spans[0]?.fromMs ?? this.#armedMs);
    let turns = TURNS_TO_REPORT;
    const wait = (): void => {
      turns -= 1;
      if (turns > 0) {
        this.#options.clock.soon(wait);
        return;
      }
      this.#unjudged.shift();
      const ownMs = stretch.ms - share * commonMs(spans, this.#pauses);
      this.#note(ownMs > this.budgetMs ? { ...stretch, ms: ownMs } : { ...stretch, phase: GC_PHASE });
    };
    this.#options.clock.soon(wait);
  }

  /**
   * The CPU time within this many milliseconds of work, assuming that the thread had the same share of a core in all
   * its work since the timer was set. Reading the CPU time for each call would cost more than many calls do.
   */
  #ran(ms: number): number {
    const { clock, usage } = this.#options;
    if (usage === undefined || ms <= 0) return ms;
    const { cpuMs, idleMs } = usage();
    const activeMs = clock.nowMs() - this.#armedMs - (idleMs - this.#usage.idleMs);
    return ms * Math.min(1, (cpuMs - this.#usage.cpuMs) / Math.max(activeMs, ms));
  }

  #note(stretch: Stretch): void {
    const { phase, method, ms } = stretch;
    const key = `${phase} ${method}`;
    const culprit = this.#culprits.get(key) ?? this.#newCulprit(key, phase, method);
    culprit.count += 1;
    culprit.seconds += ms / 1000;
    culprit.longestSeconds = Math.max(culprit.longestSeconds, ms / 1000);
    this.#options.onStretch(stretch);
  }

  #newCulprit(key: string, phase: string, method: string): Culprit {
    if (this.#culprits.size >= CULPRITS_MAX) {
      const rest = this.#culprits.get(OTHER_PHASE);
      if (rest !== undefined) return rest;
    }
    const full = this.#culprits.size >= CULPRITS_MAX;
    const culprit = {
      labels: full ? { phase: OTHER_PHASE, method: OTHER_PHASE } : { phase, method },
      count: 0,
      seconds: 0,
      longestSeconds: 0,
    };
    this.#culprits.set(full ? OTHER_PHASE : key, culprit);
    return culprit;
  }
}
