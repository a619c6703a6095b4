/** A task that waits for its place. */
interface Waiting {
  readonly begin: () => void;
  readonly refuse: (reason: unknown) => void;
  readonly signal: AbortSignal | undefined;
}

/** The tasks that wait with one signal, and the one listener for all of them. */
interface WithSignal {
  readonly tasks: Set<Waiting>;
  readonly abort: () => void;
}

/** Runs at most `max` tasks at a time. The others wait in the order of their calls. */
export class Limiter {
  #free: number;
  readonly #waiting = new Set<Waiting>();
  /** A signal compares each new listener with all that it has, so with one for each task a long queue would cost its square. */
  readonly #withSignal = new Map<AbortSignal, WithSignal>();

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
      else this.#begin(next); // the next task takes this place, so `#free` stays
    }
  }

  #turn(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((begin, refuse) => {
      const task: Waiting = { begin, refuse, signal };
      this.#waiting.add(task);
      if (signal === undefined) return;
      const known = this.#withSignal.get(signal);
      if (known !== undefined) known.tasks.add(task);
      else this.#listen(signal, task);
    });
  }

  #listen(signal: AbortSignal, first: Waiting): void {
    const tasks = new Set([first]);
    const abort = (): void => {
      this.#withSignal.delete(signal);
      for (const task of tasks) {
        this.#waiting.delete(task);
        task.refuse(signal.reason);
      }
    };
    this.#withSignal.set(signal, { tasks, abort });
    signal.addEventListener('abort', abort, { once: true });
  }

  #begin(task: Waiting): void {
    const { signal } = task;
    this.#waiting.delete(task);
    task.begin();
    if (signal === undefined) return;
    const { tasks, abort } = this.#withSignal.get(signal)!;
    tasks.delete(task);
    if (tasks.size > 0) return;
    this.#withSignal.delete(signal);
    signal.removeEventListener('abort', abort);
  }
}
