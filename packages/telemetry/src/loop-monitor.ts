import type { Clock, LoopWatch, Timer } from '@engram/core';
import type { MetricRegistry } from './metric-registry.ts';
import type { Sample } from './plain-histogram.ts';

/** Work that nobody has named. */
const OTHER = 'other';
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
    this.#arm();
  }

  began(method: string): void {
    this.#lastMethod = method;
  }

  stretched(phase: string, ms: number, method = ''): void {
    this.toldMs += ms;
    // Where CPU time counts the timer decides whether it was too much; this names it.
    const cpuMs = this.#cpuMs();
    if (cpuMs > this.budgetMs) this.#note({ phase, ms: Math.min(ms, cpuMs), method });
  }

  [Symbol.dispose](): void {
    this.#timer?.cancel();
  }

  #arm(): void {
    const { clock, intervalMs, cpuSeconds } = this.#options;
    this.#dueMs = clock.nowMs() + intervalMs;
    this.#cpuSeconds = cpuSeconds?.() ?? 0;
    this.#toldBeforeMs = this.toldMs;
    this.#timer = clock.after(intervalMs, () => this.#look());
  }

  #look(): void {
    const lateMs = this.#options.clock.nowMs() - this.#dueMs;
    const untoldMs = Math.min(lateMs, this.#cpuMs()) - (this.toldMs - this.#toldBeforeMs);
    if (untoldMs > this.budgetMs) this.#note({ phase: OTHER, ms: untoldMs, method: this.#lastMethod });
    this.#arm();
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
