import type { Span } from './tracer.ts';

/**
 * A write that has ended. It was requested at `askedMs` of the clock's `nowMs`, and reached each stage of its path so many
 * microseconds later: -1 if it has not reached the stage, as a refused one, or passed it by, as one without records of its own.
 */
export interface EndedWrite {
  readonly stage: string;
  readonly askedMs: number;
  readonly decidedUs: number;
  readonly appendingUs: number;
  readonly durableUs: number;
  readonly appliedUs: number;
  readonly publishedUs: number;
  readonly endedUs: number;
  /** Ranges, puts, deletes and transactions as etcd counts them (`OpCounts` of sequencer). */
  readonly ranges: number;
  readonly puts: number;
  /** Of keys and values. */
  readonly putBytes: number;
  readonly deletes: number;
  readonly txns: number;
  /** Records the call that the write is for, if anything does. */
  readonly span?: Span | undefined;
}
