/** All errors of this package, except its own broken invariants (`assert` of core). */
const table = {
  /** Bytes of a member of this cluster can't be read: they are damaged, or of a later version. */
  'bad-bytes': 'bytes that cannot be decoded',
  /** An entry that is committed cannot be read: it is of a later version, or no member of this cluster has made it. */
  'unreadable-entry': 'a committed entry of the Raft log cannot be read',
  /** The stored state belongs to another member or cluster. */
  'foreign-state': 'the state of another member',
  /** Another process has loaded the state: of this member, or of one that goes on alone. */
  'storage-taken-over':
    'a later start of this member has taken its state over, or another member was told to go on without it (--force-new-cluster)',
} as const;

export type ElectionErrorCode = keyof typeof table;

export class ElectionError extends Error {
  override readonly name = 'ElectionError';
  readonly code: ElectionErrorCode;

  constructor(code: ElectionErrorCode, detail: string, options?: ErrorOptions) {
    super(`${table[code]}: ${detail}`, options);
    this.code = code;
  }
}
