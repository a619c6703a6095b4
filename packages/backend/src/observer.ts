import type { Revision } from '@engram/core';

/**
 * A write that has ended: when it reached its stages (`WriteStage`), by the clock's `nowMs`. A time is negative if it has not
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

/** Receives what operators count. Called on hot paths: an observer must only add to numbers and return. */
export interface StoreObserver {
  /** A write was answered or refused. */
  write?(write: EndedWrite): void;
  /** A batch became durable. */
  appended?(durationMs: number, records: number, bytes: number): void;
  range?(): void;
  /** A transaction with more than one op. */
  txn?(): void;
  compacted?(revision: Revision, dropped: number, durationMs: number): void;
  leaseGranted?(ttlSeconds: number): void;
  leaseRevoked?(): void;
  leaseRenewed?(): void;
  leaseExpired?(): void;
}
