/** Every way in which this package refuses to go on, other than a broken invariant of its own (`assert` of core). */
const table = {
  /** The options contradict each other. */
  'bad-options': 'the options of a node contradict each other',
  /** Bytes are no message, entry or state of this package. Nothing of them was used. */
  'bad-bytes': 'bytes that cannot be decoded',
  /**
   * The leader counts on entries that this node has acknowledged and does not have. Its data was lost or restored from
   * an older copy: it must not go on under this id, since it may have voted as well.
   */
  'log-lost': 'this node has lost entries that it acknowledged',
} as const;

export type RaftErrorCode = keyof typeof table;

export class RaftError extends Error {
  override readonly name = 'RaftError';
  readonly code: RaftErrorCode;

  constructor(code: RaftErrorCode, detail: string, options?: ErrorOptions) {
    super(`${table[code]}: ${detail}`, options);
    this.code = code;
  }
}
