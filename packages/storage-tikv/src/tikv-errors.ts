import { StorageClosedError, StorageCorruptError, StorageFailedError, StorageUnavailableError } from '@engram/storage';
import { isTikvError } from '@engram/tikv-client';
import { NewerFormat } from './batch-format.ts';

/** Who may end a call: the caller, and the storage. */
export interface Ends {
  readonly signal?: AbortSignal | undefined;
  readonly closing: AbortSignal;
}

/**
 * An error of the client as the ports know it. The caller's signal rejects with its own reason; what may pass is
 * StorageUnavailableError; a client that takes nothing more is StorageFailedError.
 */
export function translate(error: unknown, what: string, { signal, closing }: Ends): unknown {
  if (closing.aborted) return closing.reason;
  if (signal?.aborted) return signal.reason;
  if (error instanceof NewerFormat) return new StorageCorruptError(error.message, what, { cause: error });
  if (!isTikvError(error)) return error;
  const text = `${what}: ${error.message}`;
  if (error.code === 'closed') return new StorageClosedError(text, { cause: error });
  // An old timestamp is taken anew with the next call.
  if (error.retryable || error.code === 'gc-too-early') return new StorageUnavailableError(text, { cause: error });
  return new StorageFailedError(text, { cause: error });
}

/** One signal for a call that either may end. */
export function signalOf({ signal, closing }: Ends): AbortSignal {
  return signal === undefined ? closing : AbortSignal.any([signal, closing]);
}
