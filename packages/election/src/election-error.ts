/** Every way in which this package refuses to go on, other than a broken invariant of its own (`assert` of core). */
const table = {
  /** Bytes that a member of this cluster has written or sent can't be read: damaged, or of a later version. */
  'bad-bytes': 'bytes that cannot be decoded',
  /** What is kept belongs to another member or cluster. */
  'foreign-state': 'the state of another member',
  /** The state was taken over by a later start of this member. */
  'storage-taken-over': 'a later start of this member has taken its state over',
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
