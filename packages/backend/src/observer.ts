import type { Revision } from '@engram/core';

/** What operators count. Called on hot paths: an observer adds to a number and returns. */
export interface StoreObserver {
  /** A batch became durable. */
  appended?(durationMs: number, records: number, bytes: number): void;
  put?(bytes: number): void;
  deleted?(): void;
  range?(): void;
  /** A transaction with more than one op. */
  txn?(): void;
  compacted?(revision: Revision, dropped: number, durationMs: number): void;
  leaseGranted?(ttlSeconds: number): void;
  leaseRevoked?(): void;
  leaseRenewed?(): void;
  leaseExpired?(): void;
}
