/** Runs at most `max` tasks at a time. The others wait in the order of their calls. */
export class Limiter {
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(max: number) {
    this.#free = max;
  }

  /** The outcome of `work`. Rejects with the signal's reason if that aborts before the task begins: then it never does. */
  async run<Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    signal?.throwIfAborted();
    if (this.#free > 0) this.#free -= 1;
    else await this.#turn(signal);
    try {
      return await work();
    } finally {
      const [next] = this.#waiting;
      if (next === undefined) this.#free += 1;
      else next(); // the next task takes this place, so `#free` stays
    }
  }

  #turn(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#waiting.delete(begin);
        signal?.removeEventListener('abort', abort);
      };
      const begin = (): void => {
        leave();
        resolve();
      };
      const abort = (): void => {
        leave();
        reject(signal?.reason);
      };
      this.#waiting.add(begin);
      signal?.addEventListener('abort', abort);
    });
  }
}
