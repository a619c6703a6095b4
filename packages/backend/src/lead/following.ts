import { type Caller, nodeItself } from '../caller.ts';

/**
 * That a store follows another one: nobody writes but its follower, and no lease ends by its time. It ends once, with the cut-over.
 */
export class Following {
  /** Who writes meanwhile. */
  readonly caller: Caller = { ...nodeItself };
  #active = true;
  #onEnd: (() => void) | undefined;

  get active(): boolean {
    return this.#active;
  }

  /** Called at the end, before anybody else writes. The next one replaces it. */
  set onEnd(call: () => void) {
    this.#onEnd = call;
  }

  /** From now on the store takes writes, and leases run, with their full time. */
  end(): void {
    if (!this.#active) return;
    this.#onEnd?.();
    this.#active = false;
  }
}
