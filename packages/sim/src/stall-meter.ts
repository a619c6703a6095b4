/** The longest stretch without a turn for other work, by the clock and in CPU time of the thread. */
export interface Stall {
  readonly wallMs: number;
  /** Excludes the time of other programs, so it is comparable on a busy machine. */
  readonly cpuMs: number;
}

/** Measures how long the real event loop is held: it requests turn after turn and records the time between two. */
export class StallMeter {
  #running = false;
  #wallMs = 0;
  #cpuMs = 0;

  /** Measures how long `work` holds the event loop, until it has settled and one turn later. */
  static async during<Result>(work: () => Result | Promise<Result>): Promise<{ result: Result; stall: Stall }> {
    const meter = new StallMeter();
    await meter.#begin();
    try {
      const result = await work();
      return { result, stall: await meter.#end() };
    } finally {
      meter.#running = false;
    }
  }

  #begin(): Promise<void> {
    this.#running = true;
    return new Promise((resolve) => {
      setImmediate(() => {
        this.#measure();
        resolve();
      });
    });
  }

  async #end(): Promise<Stall> {
    // Two turns, so that the last stretch is included.
    for (let turn = 0; turn < 2; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    return { wallMs: this.#wallMs, cpuMs: this.#cpuMs };
  }

  #measure(): void {
    let wallMs = performance.now();
    let cpuMs = threadCpuMs();
    const turn = (): void => {
      const nowMs = performance.now();
      const nowCpuMs = threadCpuMs();
      this.#wallMs = Math.max(this.#wallMs, nowMs - wallMs);
      this.#cpuMs = Math.max(this.#cpuMs, nowCpuMs - cpuMs);
      wallMs = nowMs;
      cpuMs = nowCpuMs;
      if (this.#running) setImmediate(turn);
    };
    setImmediate(turn);
  }
}

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
