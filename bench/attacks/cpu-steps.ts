/** Above these a step is counted, in milliseconds. The last one is the budget of a turn of the event loop. */
const LIMITS_MS = [2, 5, 10];

/** Steps of a CPU time that is read again and again. */
export class CpuSteps {
  readonly #counts = LIMITS_MS.map(() => 0);
  #lastMs: number;
  #longestMs = 0;

  constructor(startMs: number) {
    this.#lastMs = startMs;
  }

  /** `cpuMs`: the CPU time so far. */
  read(cpuMs: number): void {
    const stepMs = cpuMs - this.#lastMs;
    this.#lastMs = cpuMs;
    if (stepMs > this.#longestMs) this.#longestMs = stepMs;
    if (stepMs <= LIMITS_MS[0]!) return;
    for (const [at, limitMs] of LIMITS_MS.entries()) if (stepMs > limitMs) this.#counts[at]! += 1;
  }

  get longestMs(): number {
    return this.#longestMs;
  }

  /** How many steps were longer than each limit. */
  get counts(): readonly (readonly [limitMs: number, steps: number])[] {
    return LIMITS_MS.map((limitMs, at) => [limitMs, this.#counts[at]!]);
  }
}
