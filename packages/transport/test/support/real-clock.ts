import type { Clock, Logger } from '@engram/core';

export const realClock: Clock = {
  nowMs: () => performance.now(),
  wallMs: () => Date.now(),
  after(delayMs, fire) {
    const timer = setTimeout(fire, delayMs);
    timer.unref();
    return { cancel: () => clearTimeout(timer) };
  },
  soon: (fire) => void setImmediate(fire),
};

export const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} };
