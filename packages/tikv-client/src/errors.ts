/**
 * Every way in which a call can fail. The codes are API. An expected end of a transaction (a conflict, an existing key, an
 * unknown result) is not an error but a CommitOutcome.
 */
export const tikvErrorTable = {
  /** The caller's AbortSignal fired. `cause` is its reason. */
  aborted: 'the call was aborted',
  /** The caller's deadline, or the default one, has passed. `cause` says what the call last waited for. */
  'deadline-exceeded': 'the call did not finish before its deadline',
  /** The sleeps used up the backoff budget before the deadline. `cause` is the error of the kind that slept longest. */
  'backoff-exhausted': 'the cluster did not recover within the time that the call may wait for it',
  closed: 'the client is closed',
  'invalid-argument': 'an argument is out of its bounds',
  'empty-value': 'a value must have at least one byte',
  'key-too-large': 'a key is over its limit',
  'value-too-large': 'a value is over its limit',
  'transaction-too-large': 'a transaction is over its limit',
  /** The transaction was committed or rolled back before, or is too old. */
  'transaction-ended': 'the transaction has ended',
  /** No PD member answered with a leader. */
  'pd-unreachable': 'no member of PD could be reached',
  /** A PD member belongs to another cluster, or PD refused the client's cluster id. The client does not retry. */
  'cluster-mismatch': 'PD belongs to another cluster',
  'pd-error': 'PD refused the request',
  /** PD allocated a timestamp below an earlier one. The client refuses all further calls. */
  'timestamp-regression': 'PD allocated a timestamp below an earlier one',
  'tls-failed': 'the secure connection could not be made',
  'region-unavailable': 'a region could not serve the request',
  'store-unreachable': 'a store could not be reached',
  /** An answer or an error that the protocol does not define. */
  'protocol-error': 'the server answered what the protocol does not allow',
  /**
   * A store has aborted a read, and does not say why by a code: the value is damaged, or its range is being deleted. TiKV deletes a
   * range in one column family after the other, so values may be gone before what refers to them.
   */
  'read-aborted': 'a store has aborted a read',
  'corrupt-key': 'a bound of a region is not an encoded key',
  'disk-full': 'a store is out of space',
  'flashback-in-progress': 'the region is being flashed back by an administrator',
  /** Reads below the safe point would silently miss data. */
  'gc-too-early': 'the timestamp is older than the safe point of garbage collection',
  /** PD has not allocated the caller's timestamp yet. TiKV ends its process over such a timestamp. Nothing was sent. */
  'future-timestamp': 'the timestamp lies in the future',
  /** A key was not as the caller asserted. Nothing was committed. */
  'assertion-failed': 'an assertion about a key does not hold',
  /** TiKV aborted the transaction for a reason without a code of its own. Nothing was committed. */
  'transaction-aborted': 'the transaction was aborted by the server',
} as const;

export type TikvErrorCode = keyof typeof tikvErrorTable;

/** The only error that calls of this package reject with. `retryable`: the same call may succeed later. */
export class TikvError extends Error {
  override readonly name = 'TikvError';
  readonly code: TikvErrorCode;

  constructor(code: TikvErrorCode, detail?: string, options?: ErrorOptions) {
    super(detail === undefined ? tikvErrorTable[code] : `${tikvErrorTable[code]}: ${detail}`, options);
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
  'timestamp-regression',
  // Files are read anew for each connection, and a server may have another certificate by then.
  'tls-failed',
  'region-unavailable',
  'store-unreachable',
  'disk-full',
]);

export function isTikvError(error: unknown, code?: TikvErrorCode): error is TikvError {
  return error instanceof TikvError && (code === undefined || error.code === code);
}
