import type { Clock, Random } from '@engram/core';

/** Node's clock. Its timers keep the process alive. */
export const systemClock: Clock = {
  nowMs: () => performance.now(),
  wallMs: () => Date.now(),
  after(delayMs, fire) {
    const timer = setTimeout(fire, delayMs);
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
