import type { Clock, Random } from '@engram/core';

/** The longest time of a timer of node: 24 days. A longer one would be over at once. */
export const TIMER_MS_MAX = 2 ** 31 - 1;

/** Node's clock. Its timers keep the process alive. */
export const systemClock: Clock = {
  nowMs: () => performance.now(),
  wallMs: () => Date.now(),
  after(delayMs, fire) {
    const timer = setTimeout(fire, Math.min(delayMs, TIMER_MS_MAX));
    return { cancel: () => clearTimeout(timer) };
  },
  soon(fire) {
    setImmediate(fire);
  },
  endOfTurn(fire) {
    process.nextTick(fire);
  },
};

export const systemRandom: Random = { uint32: () => Math.floor(Math.random() * 2 ** 32) };
