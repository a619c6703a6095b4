import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Bytes of chunks, messages and the like, without garbage. */
export async function arrayBuffersHeld(): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  for (let turn = 0; turn < 3; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    if (typeof collect === 'function') collect();
  }
  return process.memoryUsage().arrayBuffers;
}
