import type { Clock, Random, Timer } from '@engram/core';

const cancelled: Timer = { cancel: () => {} };

/** Node's clock. Its timers keep the process alive. */
export const systemClock: Clock = {
  nowMs: () => performance.now(),
  wallMs: () => Date.now(),
  after(delayMs, fire) {
    const timer = setTimeout(fire, delayMs);
    return { cancel: () => clearTimeout(timer) };
  },
  giveWay(fire) {
    setImmediate(fire);
  },
  soon(fire) {
    setImmediate(fire);
  },
  endOfTurn(fire) {
    process.nextTick(fire);
  },
};

/** The clock for work outside of calls: timers of `systemClock` made by it do not keep the process alive. */
export function background(clock: Clock): Clock {
  if (clock !== systemClock) return clock;
  return {
    ...systemClock,
    after(delayMs, fire) {
      const timer = setTimeout(fire, delayMs);
      timer.unref();
      return { cancel: () => clearTimeout(timer) };
    },
  };
}

export const systemRandom: Random = { uint32: () => Math.floor(Math.random() * 2 ** 32) };

export const noTimer = cancelled;
