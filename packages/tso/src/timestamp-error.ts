/** Every way in which the oracle itself fails. What a stream or a call fails with keeps its own error. */
export const timestampErrors = {
  closed: 'the oracle is closed',
  /** An answer lies at or below one that came before. Snapshot isolation depends on the order, so nobody gets it. */
  regression: 'a timestamp lies below an earlier one',
  /** An answer has another number of timestamps than was asked for. */
  'other-count': 'other timestamps came than were asked for',
  /** The cause of a call that ended while no answer came. */
  'no-answer': 'no timestamp came',
} as const;

export type TimestampErrorCode = keyof typeof timestampErrors;

export class TimestampError extends Error {
  override readonly name = 'TimestampError';
  readonly code: TimestampErrorCode;
  readonly detail: string | undefined;

  constructor(code: TimestampErrorCode, detail?: string) {
    super(detail === undefined ? timestampErrors[code] : `${timestampErrors[code]}: ${detail}`);
    this.code = code;
    this.detail = detail;
  }
}
