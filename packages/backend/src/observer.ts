import type { Revision } from '@engram/core';

/** Receives what operators count. Called on hot paths: an observer must only add to a number and return. */
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
