/** All errors of this package, except its own broken invariants (`assert` of core). */
const table = {
  /** The options contradict each other. */
  'bad-options': 'the options of a node contradict each other',
  /** The bytes are no message, entry or state of this package. No part of them was used. */
  'bad-bytes': 'bytes that cannot be decoded',
  /**
   * This node lacks entries that it has acknowledged and that the leader counts on. Its data was lost or restored from an
   * older copy. It must not go on under this id, because it may have voted as well.
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
