/** The longest stretch in which nothing else had its turn: by the clock, and in CPU time of the thread. */
export interface Stall {
  readonly wallMs: number;
  /** Without what other programs took meanwhile: comparable on a busy machine. */
  readonly cpuMs: number;
}

/** Measures how long the real event loop is held: asks for its turn again and again, and notes what was between two. */
export class StallMeter {
  #running = false;
  #wallMs = 0;
  #cpuMs = 0;

  /** What `work` does to everybody else, until it has settled and one turn more. */
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
    // Two turns, so that the last stretch is among them.
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
