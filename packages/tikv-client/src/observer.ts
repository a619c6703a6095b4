import type { BackoffName } from './backoff/backoff-kinds.ts';

/**
 * The port for metrics and traces. Every method is optional, is called synchronously on hot paths, and must not throw.
 * Names are closed sets or store ids, so that they can be labels.
 */
export interface Observer {
  /** One request to a store has ended. */
  storeCall?(event: StoreCallEvent): void;
  /** One request to PD has ended. */
  pdCall?(method: string, durationMs: number, ok: boolean): void;
  /** One request to PD brought `count` timestamps. */
  timestamps?(count: number, durationMs: number): void;
  /** A region was not in the cache, or was dropped from it; `reason` says why. */
  regionMiss?(reason: string): void;
  backoff?(kind: BackoffName, delayMs: number): void;
  /** One message of a BatchCommands stream was written. */
  batch?(storeId: number, requests: number, bytes: number): void;
  /** A request met the lock of another transaction. */
  lock?(fate: 'committed' | 'rolled-back' | 'alive' | 'pushed'): void;
  /** A transaction has ended. The duration is that of all phases that the caller waited for. */
  transaction?(event: TransactionEvent): void;
  /** Starts a span around a call of the public API. The returned function ends it. */
  span?(name: string): (error?: unknown) => void;
}

export interface StoreCallEvent {
  readonly command: string;
  readonly storeId: number;
  readonly durationMs: number;
  readonly outcome: 'ok' | 'region-error' | 'transport-error';
  /** The kind of region error: the name of the field in errorpb. */
  readonly detail: string | undefined;
}

export interface TransactionEvent {
  readonly mode: '1pc' | 'async' | '2pc' | 'read-only';
  readonly outcome: 'committed' | 'conflict' | 'exists' | 'not-one-phase' | 'undetermined' | 'failed';
  readonly keys: number;
  readonly bytes: number;
  readonly durationMs: number;
}

export const noObserver: Observer = {};
