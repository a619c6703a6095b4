import type { Revision } from '@engram/core';

/** Held until it is disposed, on every path, or until it is revoked. */
export interface Pin extends Disposable {
  /** It holds nothing back any more; what it kept may be gone. Only pins that were taken as revocable are revoked. */
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
 * Readers that still fetch bytes of old versions. A compaction is felt by new readers at once; the versions are
 * dropped only when no pinned reader may need them. A pin is held for one answer; the one that lasts as long as a client
 * likes (a snapshot's) is revocable.
 */
export class Pins {
  readonly #held = new Set<HeldPin>();
  #waiting: (() => void)[] = [];
  #closed = false;

  /** For tests and metrics. */
  get size(): number {
    return this.#held.size;
  }

  /** Whether anybody reads below `compactRevision`. */
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
   * Undefined when nobody reads below `compactRevision`, else resolves when nobody does any more, or at `close`. New
   * readers below it are refused, so it comes to an end.
   */
  clearBelow(compactRevision: Revision): Promise<void> | undefined {
    return this.holdsBelow(compactRevision) ? this.#waitFor(compactRevision) : undefined;
  }

  /** Takes the revocable pins below `compactRevision` from their holders; returns how many they were. */
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

  /** Nobody waits any more: the store is closing. */
  close(): void {
    this.#closed = true;
    this.#wake();
  }

  async #waitFor(compactRevision: Revision): Promise<void> {
    while (!this.#closed && this.holdsBelow(compactRevision)) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  readonly #drop = (pin: HeldPin): void => {
    if (this.#held.delete(pin)) this.#wake();
  };

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
