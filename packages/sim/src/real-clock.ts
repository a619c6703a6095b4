import { randomBytes } from 'node:crypto';
import type { Clock, Random } from '@engram/core';

/** The machine's time, for tests and benchmarks with real files and sockets. Its timers do not keep the process alive. */
export const realClock: Clock = {
  nowMs: () => performance.now(),
  wallMs: () => Date.now(),
  after(delayMs, fire) {
    const timer = setTimeout(fire, delayMs).unref();
    return { cancel: () => clearTimeout(timer) };
  },
  soon: (fire) => void setImmediate(fire),
  endOfTurn: (fire) => process.nextTick(fire),
};

/** Numbers that differ in every process. */
export const realRandom: Random = { uint32: () => randomBytes(4).readUInt32LE() };
