import type { Clock, LoopWatch, Timer } from '@engram/core';
import type { MetricRegistry } from './metric-registry.ts';
import type { Sample } from './plain-histogram.ts';
import { commonMs, freeSpans, lastOf, type TimeSpan } from './time-span.ts';

/** Work that nobody has named. */
const OTHER = 'other';
/** A stretch that would have been within the budget without the pauses of the collector in it. */
export const GC_PHASE = 'gc';
/** Turns until all pauses of a stretch are told. */
const TURNS_TO_TELL = 3;
/** Phases times methods: more are counted together. */
const CULPRITS_MAX = 256;

export interface Stretch {
  readonly phase: string;
  /** The path of a method, or nothing. */
  readonly method: string;
  readonly ms: number;
}

export interface LoopMonitorOptions {
  readonly clock: Clock;
  readonly budgetMs: number;
  /** How often it looks whether the loop is late. */
  readonly intervalMs: number;
  /** Seconds of CPU that the event loop's thread has used; undefined: time alone counts. Other work on the machine does not. */
  readonly cpuSeconds?: () => number;
  /**
   * Tells of each pause of the collector of garbage, on `clock`, at most TURNS_TO_TELL turns late. Pauses do not count for who
   * was working: they come whenever the young generation is full, whoever has filled it, and no code of ours can give way
   * in one. A stretch that only they made too long has the phase `gc`.
   */
  readonly observePauses?: (take: (pause: TimeSpan) => void) => Disposable;
  /** For each stretch above the budget. */
  readonly onStretch: (stretch: Stretch) => void;
}

interface Culprit {
  readonly labels: { readonly phase: string; readonly method: string };
  count: number;
  seconds: number;
  longestSeconds: number;
}

/**
 * Watches over the event loop. Those who work on it tell how long they took and for whom; a timer finds what nobody
 * told, and blames it on the call that began last.
 */
export class LoopMonitor implements LoopWatch, Disposable {
  readonly budgetMs: number;
  toldMs = 0;
  readonly #options: LoopMonitorOptions;
  readonly #culprits = new Map<string, Culprit>();
  #timer: Timer | undefined;
  #dueMs = 0;
  #cpuSeconds = 0;
  /** `toldMs` when the timer was set. */
  #toldBeforeMs = 0;
  /** Since the timer was set, each the time of one culprit. */
  #told: TimeSpan[] = [];
  readonly #observing: Disposable | undefined;
  /** All that a stretch which is still looked into, or one that runs, may have had. */
  #pauses: TimeSpan[] = [];
  /** Beginnings of the stretches that are still looked into, oldest first. */
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
    this.toldMs += ms;
    // Where CPU time counts the timer decides whether it was too much; this names it.
    const cpuMs = this.#cpuMs();
    const nowMs = this.#options.clock.nowMs();
    // What others were told of in the meantime is theirs.
    const spans = lastOf(freeSpans(Math.min(this.#armedMs, nowMs - ms), nowMs, this.#told), ms);
    const fromMs = spans[0]?.fromMs ?? nowMs;
    this.#told = this.#told.filter((span) => span.toMs <= fromMs);
    this.#told.push({ fromMs, toMs: nowMs });
    if (cpuMs > this.budgetMs) this.#judge({ phase, ms: Math.min(ms, cpuMs), method }, spans);
  }

  [Symbol.dispose](): void {
    this.#timer?.cancel();
    this.#observing?.[Symbol.dispose]();
  }

  get #armedMs(): number {
    return this.#dueMs - this.#options.intervalMs;
  }

  #arm(): void {
    const { clock, intervalMs, cpuSeconds } = this.#options;
    this.#dueMs = clock.nowMs() + intervalMs;
    this.#cpuSeconds = cpuSeconds?.() ?? 0;
    this.#toldBeforeMs = this.toldMs;
    this.#told = [];
    this.#timer = clock.after(intervalMs, () => this.#look());
  }

  #look(): void {
    const lateMs = this.#options.clock.nowMs() - this.#dueMs;
    const untoldMs = Math.min(lateMs, this.#cpuMs()) - (this.toldMs - this.#toldBeforeMs);
    if (untoldMs > this.budgetMs) {
      const spans = freeSpans(this.#armedMs, this.#options.clock.nowMs(), this.#told);
      this.#judge({ phase: OTHER, ms: untoldMs, method: this.#lastMethod }, spans);
    }
    this.#arm();
    const neededMs = this.#unjudged[0] ?? this.#armedMs;
    if (this.#pauses.length > 0) this.#pauses = this.#pauses.filter(({ toMs }) => toMs > neededMs);
  }

  /** Notes it once the pauses in its time are known. */
  #judge(stretch: Stretch, spans: readonly TimeSpan[]): void {
    if (this.#observing === undefined) {
      this.#note(stretch);
      return;
    }
    this.#unjudged.push(spans[0]?.fromMs ?? this.#armedMs);
    let turns = TURNS_TO_TELL;
    const wait = (): void => {
      turns -= 1;
      if (turns > 0) {
        this.#options.clock.soon(wait);
        return;
      }
      this.#unjudged.shift();
      const ownMs = stretch.ms - commonMs(spans, this.#pauses);
      this.#note(ownMs > this.budgetMs ? { ...stretch, ms: ownMs } : { ...stretch, phase: GC_PHASE });
    };
    this.#options.clock.soon(wait);
  }

  /** Of the thread, since the timer was set. */
  #cpuMs(): number {
    const { cpuSeconds } = this.#options;
    return cpuSeconds === undefined ? Number.POSITIVE_INFINITY : 1000 * (cpuSeconds() - this.#cpuSeconds);
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
      const rest = this.#culprits.get(OTHER);
      if (rest !== undefined) return rest;
    }
    const full = this.#culprits.size >= CULPRITS_MAX;
    const culprit = {
      labels: full ? { phase: OTHER, method: OTHER } : { phase, method },
      count: 0,
      seconds: 0,
      longestSeconds: 0,
    };
    this.#culprits.set(full ? OTHER : key, culprit);
    return culprit;
  }
}
