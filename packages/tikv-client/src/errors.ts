/**
 * Every way in which a call can fail. The codes are API. What is expected of a transaction (a conflict, an existing key, an
 * unknown result) is no error but a CommitOutcome.
 */
export const errorTable = {
  /** The caller's AbortSignal. `cause` is its reason. */
  aborted: 'the call was aborted',
  /** The caller's deadline, or the default one. `cause` is what it last waited for. */
  'deadline-exceeded': 'the call did not finish before its deadline',
  /** A kind of waiting used up its budget before the deadline. `cause` is the error that took longest. */
  'backoff-exhausted': 'the cluster did not recover within the time that the call may wait for it',
  closed: 'the client is closed',
  'invalid-argument': 'an argument is out of its bounds',
  'empty-value': 'a value must have at least one byte',
  'key-too-large': 'a key is over its limit',
  'value-too-large': 'a value is over its limit',
  'transaction-too-large': 'a transaction is over its limit',
  /** The transaction was committed or rolled back before. */
  'transaction-ended': 'the transaction has ended',
  /** No PD member answered with a leader. */
  'pd-unreachable': 'no member of PD could be reached',
  /** Some PD member belongs to another cluster, or PD refused our cluster id. Nothing is retried. */
  'cluster-mismatch': 'PD belongs to another cluster',
  'pd-error': 'PD refused the request',
  /** PD's timestamps went back. Nothing after that can be trusted: the client refuses all further work. */
  'timestamp-regression': 'PD dealt a timestamp below an earlier one',
  'tls-failed': 'the secure connection could not be made',
  'region-unavailable': 'a region could not serve the request',
  'store-unreachable': 'a store could not be reached',
  /** An answer or an error that the protocol does not explain. */
  'protocol-error': 'the server answered what the protocol does not allow',
  'corrupt-key': 'a bound of a region is not an encoded key',
  'disk-full': 'a store is out of space',
  'flashback-in-progress': 'the region is being flashed back by an administrator',
  /** Reads below the safe point would silently miss data. */
  'gc-too-early': 'the timestamp is older than the safe point of garbage collection',
  /** A timestamp of the caller's that PD has not dealt yet: TiKV ends itself over such a one. Nothing was sent. */
  'future-timestamp': 'the timestamp lies in the future',
  /** The caller's belief about a key was wrong; nothing was committed. */
  'assertion-failed': 'an assertion about a key does not hold',
  /** TiKV gave up on the transaction without a reason that has a name of its own; nothing was committed. */
  'transaction-aborted': 'the transaction was aborted by the server',
} as const;

export type TikvErrorCode = keyof typeof errorTable;

/** The only error that calls of this package reject with. `retryable`: the same call may succeed later. */
export class TikvError extends Error {
  override readonly name = 'TikvError';
  readonly code: TikvErrorCode;

  constructor(code: TikvErrorCode, detail?: string, options?: ErrorOptions) {
    super(detail === undefined ? errorTable[code] : `${errorTable[code]}: ${detail}`, options);
    this.code = code;
  }

  get retryable(): boolean {
    return retryableCodes.has(this.code);
  }
}

const retryableCodes: ReadonlySet<TikvErrorCode> = new Set([
  'deadline-exceeded',
  'backoff-exhausted',
  'pd-unreachable',
  'region-unavailable',
  'store-unreachable',
  'disk-full',
]);

export function isTikvError(error: unknown, code?: TikvErrorCode): error is TikvError {
  return error instanceof TikvError && (code === undefined || error.code === code);
}
