import type { Clock, Span } from '@engram/core';
import { TikvError } from '../errors.ts';

/** Options of every call of the public API. */
export interface CallOptions {
  /** Ends the call, whatever the call waits for. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds from now. The client's `callTimeoutMs` if absent. */
  readonly timeoutMs?: number | undefined;
  /** Records the call: each request to a store is a span in it. */
  readonly span?: Span | undefined;
}

/**
 * The deadline and the two abort signals of one call, passed to everything that waits on its behalf. Listeners are costly, so
 * requests listen only to the caller's signal, if it has one. When the client closes, the streams of the requests fail anyway.
 */
export class Call {
  readonly clock: Clock;
  readonly deadlineMs: number;
  /** The caller's signal. */
  readonly signal: AbortSignal | undefined;
  /** Fires when the client closes. */
  readonly closing: AbortSignal | undefined;
  readonly span: Span | undefined;

  constructor(
    clock: Clock,
    deadlineMs: number,
    signal: AbortSignal | undefined,
    closing?: AbortSignal,
    span?: Span | undefined,
  ) {
    this.span = span;
    this.clock = clock;
    this.deadlineMs = deadlineMs;
    this.signal = signal;
    this.closing = closing;
  }

  /** Throws `invalid-argument`, or the error of a signal that has already fired. */
  static from(clock: Clock, defaultTimeoutMs: number, options: CallOptions | undefined, closing: AbortSignal): Call {
    const timeoutMs = options?.timeoutMs ?? defaultTimeoutMs;
    if (!(timeoutMs > 0)) throw new TikvError('invalid-argument', `timeoutMs ${timeoutMs}`);
    const call = new Call(clock, clock.nowMs() + timeoutMs, options?.signal, closing, options?.span);
    call.check();
    return call;
  }

  remainingMs(): number {
    return this.deadlineMs - this.clock.nowMs();
  }

  /** Throws if the call is over: `closed`, `aborted` or `deadline-exceeded`. */
  check(cause?: unknown): void {
    if (this.closing?.aborted) throw endError(this.closing);
    if (this.signal?.aborted) throw endError(this.signal);
    if (this.remainingMs() <= 0) throw this.late(cause);
  }

  /** The error of a call whose signal has fired. */
  aborted(): TikvError {
    return endError(this.signal!);
  }

  late(cause?: unknown): TikvError {
    return new TikvError('deadline-exceeded', undefined, cause === undefined ? undefined : { cause });
  }

  /** Waits `delayMs`, or rejects as soon as the call is over. */
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

  /** Settles as `promise` does, unless the call ends first. `promise` itself continues, because other calls may share it. */
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

  /** Calls `end` once if a signal fires. The returned function removes the listeners. */
  #onEnd(end: (error: TikvError) => void): () => void {
    const { signal, closing } = this;
    if (signal === undefined && closing === undefined) return () => {};
    const listener = (): void => {
      remove();
      end(endError(closing?.aborted ? closing : signal!));
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

/** The error of a call whose signal fired. The client's own signal carries a TikvError as its reason. */
export function endError(signal: AbortSignal): TikvError {
  const reason: unknown = signal.reason;
  return reason instanceof TikvError ? reason : new TikvError('aborted', undefined, { cause: reason });
}
