import { StorageClosedError, StorageCorruptError, StorageFailedError, StorageUnavailableError } from '@engram/storage';
import { isTikvError } from '@engram/tikv-client';
import { NewerFormat } from './format/batch-format.ts';

/** The signals that end a call: the caller's, and the storage's. */
export interface CallSignals {
  readonly signal?: AbortSignal | undefined;
  readonly closing: AbortSignal;
}

/**
 * Translates an error of the client for the ports. An aborted signal gives its own reason. A closed client gives
 * StorageClosedError, a temporary error StorageUnavailableError, and any other error of the client StorageFailedError.
 */
export function translate(error: unknown, what: string, { signal, closing }: CallSignals): unknown {
  if (closing.aborted) return closing.reason;
  if (signal?.aborted) return signal.reason;
  if (error instanceof NewerFormat) return new StorageCorruptError(error.message, what, { cause: error });
  if (!isTikvError(error)) return error;
  const text = `${what}: ${error.message}`;
  if (error.code === 'closed') return new StorageClosedError(text, { cause: error });
  // `gc-too-early`: the next call takes a new timestamp.
  if (error.retryable || error.code === 'gc-too-early') return new StorageUnavailableError(text, { cause: error });
  return new StorageFailedError(text, { cause: error });
}

/** One signal for a call that both signals may end. */
export function signalOf({ signal, closing }: CallSignals): AbortSignal {
  return signal === undefined ? closing : AbortSignal.any([signal, closing]);
}
