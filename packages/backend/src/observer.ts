import type { EndedWrite, Revision } from '@engram/core';

/** Receives what operators count. Called on hot paths: an observer must only add to numbers and return. */
export interface StoreObserver {
  /** A write was answered or refused. */
  write?(write: EndedWrite): void;
  /** A batch became durable. */
  appended?(durationMs: number, records: number, bytes: number): void;
  /** A request that is no write has read so many ranges. Those of a transaction, its compares among them, are told together. */
  ranges?(count: number): void;
  compacted?(revision: Revision, dropped: number, durationMs: number): void;
  leaseGranted?(ttlSeconds: number): void;
  leaseRevoked?(): void;
  leaseRenewed?(): void;
  leaseExpired?(): void;
}
