import type { Revision } from '@engram/core';

/**
 * Readers that still fetch bytes of old versions. A compaction is felt by new readers at once; the versions are
 * dropped only when no pinned reader may need them. A pin is held for one answer, never for a client's patience.
 */
export class Pins {
  readonly #held = new Set<{ readonly at: Revision }>();
  #waiting: (() => void)[] = [];

  hold(at: Revision): Disposable {
    const pin = { at };
    this.#held.add(pin);
    return {
      [Symbol.dispose]: () => {
        if (!this.#held.delete(pin)) return;
        const waiting = this.#waiting;
        this.#waiting = [];
        for (const wake of waiting) wake();
      },
    };
  }

  /** Resolves when nobody reads below `compactRevision`. New readers below it are refused, so it comes to an end. */
  async clearBelow(compactRevision: Revision): Promise<void> {
    while (this.#below(compactRevision)) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #below(compactRevision: Revision): boolean {
    for (const pin of this.#held) if (pin.at < compactRevision) return true;
    return false;
  }
}
