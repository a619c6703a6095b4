import type { Logger } from '@engram/core';

const TASKS_MAX = 4_096;

/**
 * Tasks that no caller waits for: commits of secondaries, rollbacks, locks resolved for readers. At most `TASKS_MAX` run at a
 * time. They end with the client.
 */
export class BackgroundTasks {
  readonly #running = new Set<Promise<void>>();
  readonly #logger: Logger | undefined;
  #closed = false;

  constructor(logger: Logger | undefined) {
    this.#logger = logger;
  }

  get size(): number {
    return this.#running.size;
  }

  /** False if the task was not started. Then other transactions wait for the lock's time to live; nothing else is lost. */
  run(name: string, task: () => Promise<void>): boolean {
    if (this.#closed || this.#running.size >= TASKS_MAX) return false;
    const running: Promise<void> = task()
      .catch((error: unknown) => {
        if (!this.#closed)
          this.#logger?.debug({ task: name, error: String(error) }, 'background work of the TiKV client failed');
      })
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
    return true;
  }

  /** Accepts no more tasks. Resolves when the running tasks have ended. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#running);
  }

  /** Resolves when no task is running. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}
