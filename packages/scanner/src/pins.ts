import { type Revision, Waiters } from '@engram/core';

/** Held until it is revoked or disposed. The holder disposes of it on every path. */
export interface Pin extends Disposable {
  /** The pin no longer holds compaction back, and its versions may be gone. Only revocable pins are revoked. */
  readonly revoked: boolean;
}

class HeldPin implements Pin {
  readonly at: Revision;
  readonly revocable: boolean;
  readonly #release: (pin: HeldPin) => void;
  revoked = false;

  constructor(at: Revision, revocable: boolean, release: (pin: HeldPin) => void) {
    this.at = at;
    this.revocable = revocable;
    this.#release = release;
  }

  [Symbol.dispose](): void {
    this.#release(this);
  }
}

/**
 * The readers that still fetch bytes of old versions. A compaction affects new readers at once, but the versions are
 * dropped only when no pinned reader may need them. A pin is held for one answer. A pin that a client can hold for any
 * time (a snapshot's) is revocable.
 */
export class Pins {
  readonly #held = new Set<HeldPin>();
  readonly #compactions = new Waiters();
  #closed = false;

  /** For tests and metrics. */
  get size(): number {
    return this.#held.size;
  }

  /** Whether any pin is below `compactRevision`. */
  holdsBelow(compactRevision: Revision): boolean {
    for (const pin of this.#held) if (pin.at < compactRevision) return true;
    return false;
  }

  hold(at: Revision, revocable = false): Pin {
    const pin = new HeldPin(at, revocable, this.#drop);
    this.#held.add(pin);
    return pin;
  }

  /**
   * Undefined if no pin is below `compactRevision`. Otherwise resolves when none is left, or at `close`. The wait ends,
   * because new readers below that revision are refused.
   */
  clearBelow(compactRevision: Revision): Promise<void> | undefined {
    return this.holdsBelow(compactRevision) ? this.#waitFor(compactRevision) : undefined;
  }

  /** Revokes the revocable pins below `compactRevision`. Returns how many there were. */
  revokeBelow(compactRevision: Revision): number {
    let revoked = 0;
    for (const pin of this.#held) {
      if (!pin.revocable || pin.at >= compactRevision) continue;
      pin.revoked = true;
      revoked += 1;
      this.#drop(pin);
    }
    return revoked;
  }

  /** Resolves all pending `clearBelow` calls, because the store is closing. */
  close(): void {
    this.#closed = true;
    this.#compactions.wakeAll();
  }

  async #waitFor(compactRevision: Revision): Promise<void> {
    while (!this.#closed && this.holdsBelow(compactRevision)) {
      await this.#compactions.next();
    }
  }

  readonly #drop = (pin: HeldPin): void => {
    if (this.#held.delete(pin)) this.#compactions.wakeAll();
  };
}
