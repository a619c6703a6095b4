/**
 * A write that has ended: when it reached each stage of its path, by the clock's `nowMs`. A time is negative if it has not
 * reached the stage, as a refused one, or passed it by, as one without records of its own.
 */
export interface EndedWrite {
  readonly stage: string;
  readonly askedMs: number;
  readonly decidedMs: number;
  readonly appendingMs: number;
  readonly durableMs: number;
  readonly appliedMs: number;
  readonly endedMs: number;
  readonly puts: number;
  readonly putBytes: number;
  readonly deletes: number;
}
