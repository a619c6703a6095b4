import type { Clock } from './ports.ts';

/** Resolves after at least `ms`. Rejects with the signal's reason when that aborts first, and leaves neither timer nor listener. */
export function sleep(clock: Pick<Clock, 'after'>, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const stop = (): void => {
      timer.cancel();
      reject(signal?.reason);
    };
    const timer = clock.after(ms, () => {
      signal?.removeEventListener('abort', stop);
      resolve();
    });
    signal?.addEventListener('abort', stop, { once: true });
  });
}

/**
 * The outcome of `work`, whose signal aborts with `late()` after `ms`, or when `signal` aborts with its reason. Work that does
 * not heed its signal is waited for all the same.
 */
export async function withDeadline<Value>(
  clock: Pick<Clock, 'after'>,
  ms: number,
  late: () => Error,
  work: (signal: AbortSignal) => Promise<Value>,
  signal?: AbortSignal,
): Promise<Value> {
  const deadline = new AbortController();
  const timer = clock.after(ms, () => deadline.abort(late()));
  try {
    return await work(signal === undefined ? deadline.signal : AbortSignal.any([deadline.signal, signal]));
  } finally {
    timer.cancel();
  }
}

/** Whether `work` ends within `ms`. Rejects with its error if it fails before. */
export async function endsWithin(clock: Pick<Clock, 'after'>, ms: number, work: Promise<unknown>): Promise<boolean> {
  const late = Promise.withResolvers<boolean>();
  const timer = clock.after(ms, () => late.resolve(false));
  try {
    return await Promise.race([work.then(() => true), late.promise]);
  } finally {
    timer.cancel();
  }
}
