import type { Clock } from '@engram/core';
import { TikvError } from '../errors.ts';

/** What every call of the public face takes. */
export interface CallOptions {
  /** Ends the call at whatever it waits for. */
  readonly signal?: AbortSignal | undefined;
  /** From now, in milliseconds; the client's `callTimeoutMs` if absent. */
  readonly timeoutMs?: number | undefined;
}

/**
 * The patience of one call: a deadline and two signals, handed down to everything that waits on its behalf. Listeners are
 * costly, so requests listen to the caller's signal only, if there is one: the client's closing fails their streams anyway.
 */
export class Call {
  readonly clock: Clock;
  readonly deadlineMs: number;
  /** The caller's. */
  readonly signal: AbortSignal | undefined;
  /** The client's end. */
  readonly closing: AbortSignal | undefined;

  constructor(clock: Clock, deadlineMs: number, signal: AbortSignal | undefined, closing?: AbortSignal) {
    this.clock = clock;
    this.deadlineMs = deadlineMs;
    this.signal = signal;
    this.closing = closing;
  }

  /** Throws `invalid-argument`, or the error of a call that is over before it begins. */
  static from(clock: Clock, defaultTimeoutMs: number, options: CallOptions | undefined, closing: AbortSignal): Call {
    const timeoutMs = options?.timeoutMs ?? defaultTimeoutMs;
    if (!(timeoutMs > 0)) throw new TikvError('invalid-argument', `timeoutMs ${timeoutMs}`);
    const call = new Call(clock, clock.nowMs() + timeoutMs, options?.signal, closing);
    call.check();
    return call;
  }

  remainingMs(): number {
    return this.deadlineMs - this.clock.nowMs();
  }

  /** Throws when the call is over. */
  check(cause?: unknown): void {
    if (this.closing?.aborted) throw endOf(this.closing);
    if (this.signal?.aborted) throw endOf(this.signal);
    if (this.remainingMs() <= 0) throw this.late(cause);
  }

  late(cause?: unknown): TikvError {
    return new TikvError('deadline-exceeded', undefined, cause === undefined ? undefined : { cause });
  }

  /** Waits, or rejects as soon as the call is over. */
  sleep(delayMs: number, cause?: unknown): Promise<void> {
    return new Promise((resolve, reject) => {
      this.check(cause);
      const remaining = this.remainingMs();
      const timer = this.clock.after(Math.max(0, Math.min(delayMs, remaining)), () => {
        stopListening();
        if (delayMs < remaining) resolve();
        else reject(this.late(cause));
      });
      const stopListening = this.#onEnd((error) => {
        timer.cancel();
        reject(error);
      });
    });
  }

  /** `promise`, unless the call ends first. The promise itself goes on: others may share it. */
  wait<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      promise.catch(() => {});
      this.check();
      const remaining = this.remainingMs();
      const timer =
        remaining === Number.POSITIVE_INFINITY
          ? undefined
          : this.clock.after(remaining, () => {
              stopListening();
              reject(this.late());
            });
      const stopListening = this.#onEnd((error) => {
        timer?.cancel();
        reject(error);
      });
      const done = (): void => {
        timer?.cancel();
        stopListening();
      };
      promise.then(
        (value) => {
          done();
          resolve(value);
        },
        (error: unknown) => {
          done();
          reject(error);
        },
      );
    });
  }

  /** Calls `end` once if a signal fires; the function returned removes the listeners. */
  #onEnd(end: (error: TikvError) => void): () => void {
    const { signal, closing } = this;
    if (signal === undefined && closing === undefined) return () => {};
    const listener = (): void => {
      remove();
      end(endOf(closing?.aborted ? closing : signal!));
    };
    const remove = (): void => {
      signal?.removeEventListener('abort', listener);
      closing?.removeEventListener('abort', listener);
    };
    signal?.addEventListener('abort', listener, { once: true });
    closing?.addEventListener('abort', listener, { once: true });
    return remove;
  }
}

/** The error of a call whose signal fired: the client's own signal carries a TikvError as its reason. */
export function endOf(signal: AbortSignal): TikvError {
  const reason: unknown = signal.reason;
  return reason instanceof TikvError ? reason : new TikvError('aborted', undefined, { cause: reason });
}
