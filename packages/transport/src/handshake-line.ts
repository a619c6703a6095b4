import { addressShare, HolderShares, type Clock, SharedBudget } from '@engram/core';
import type { Loop, Task, WorkClass } from '@engram/loop';

/**
 * Handshakes that have begun and are not complete. What their clients send next may all come at once: the event loop then
 * works for each of them, about 0.2 ms. An address has at most half of them, unless it is alone.
 */
export const UNDER_WAY_MAX = 32;
/** A handshake that is under way for longer is cut when others wait for its place. */
export const STALLED_MS = 1_000;
/** Slices that are requested ahead. Whose handshake a slice begins is decided when it comes. */
const AHEAD = 8;

interface Handshake {
  /** What counts as one: see `addressShare`. */
  readonly address: string;
  /** Begins the handshake: the server's first answer costs a signature, 0.4 ms with RSA of 2048 bits. */
  readonly begin: () => void;
  readonly cut: () => void;
  /** It is complete, or its client has gone: perhaps before its turn came. */
  gone: boolean;
}

/**
 * Begins handshakes in turn: each is a slice of the loop, one address after another. A client needs no
 * certificate yet to make a server sign, so a thousand of them at once would keep the event loop for half a second.
 */
export class HandshakeLine {
  readonly #clock: Pick<Clock, 'after' | 'nowMs'>;
  readonly #loop: Pick<Loop, 'later'>;
  readonly #begin: Task;
  readonly #shares = new HolderShares<string>(new SharedBudget({ max: UNDER_WAY_MAX, greed: 1, floor: 0 }));
  readonly #waiting = new Map<string, Handshake[]>();
  /** Oldest first, with the time of the beginning. */
  readonly #underWay = new Map<Handshake, number>();
  #waits = 0;
  #asked = 0;
  #looking = false;

  constructor(clock: Pick<Clock, 'after' | 'nowMs'>, loop: Pick<Loop, 'later'>, work: WorkClass = 'client') {
    this.#clock = clock;
    this.#loop = loop;
    this.#begin = { work, caller: 'handshakes', stage: 'handshake' };
  }

  get waiting(): number {
    return this.#waits;
  }

  get underWay(): number {
    return this.#underWay.size;
  }

  /** The result is to be called when the handshake is complete, or its client gone. It may wait or be under way. */
  push(remoteAddress: string, begin: () => void, cut: () => void): () => void {
    const address = addressShare(remoteAddress);
    const handshake: Handshake = { address, begin, cut, gone: false };
    const line = this.#waiting.get(address);
    if (line === undefined) this.#waiting.set(address, [handshake]);
    else line.push(handshake);
    this.#waits += 1;
    this.#ask();
    return () => this.#ended(handshake);
  }

  #ask(): void {
    for (let wanted = Math.min(this.#waits, AHEAD); this.#asked < wanted; ) {
      this.#asked += 1;
      this.#loop.later(this.#begin, this.#slice);
    }
    this.#watchStalled();
  }

  readonly #slice = (): void => {
    this.#asked -= 1;
    const handshake = this.#next();
    if (handshake === undefined) return;
    this.#underWay.set(handshake, this.#clock.nowMs());
    handshake.begin();
    if (this.#underWay.size < UNDER_WAY_MAX) this.#ask();
  };

  /** The next one of the next address that may have one more. */
  #next(): Handshake | undefined {
    for (const [address, line] of this.#waiting) {
      while (line[0]?.gone === true) line.shift();
      if (line.length > 0 && !this.#shares.enter(address)) continue;
      const handshake = line.shift();
      this.#waiting.delete(address);
      if (line.length > 0) this.#waiting.set(address, line);
      if (handshake === undefined) continue;
      this.#waits -= 1;
      return handshake;
    }
    return undefined;
  }

  #ended(handshake: Handshake): void {
    if (handshake.gone) return;
    handshake.gone = true;
    if (this.#underWay.delete(handshake)) this.#shares.leave(handshake.address);
    else this.#waits -= 1;
    this.#ask();
  }

  #watchStalled(): void {
    if (this.#looking || this.#waits === 0) return;
    this.#looking = true;
    this.#clock.after(STALLED_MS, () => {
      this.#looking = false;
      if (this.#waits === 0) return;
      const since = this.#clock.nowMs() - STALLED_MS;
      for (const [{ cut }, begunMs] of [...this.#underWay]) if (begunMs <= since) cut();
      this.#ask();
    });
  }
}
