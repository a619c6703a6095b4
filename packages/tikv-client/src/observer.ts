import type { BackoffName } from './backoff/backoff-kinds.ts';

/**
 * Where metrics and traces are taken. Every method is optional, called synchronously on hot paths, and must not throw.
 * Names are closed sets or store ids, so that they can be labels.
 */
export interface Observer {
  /** One request to a store has ended; `outcome` is what came back. */
  storeCall?(event: StoreCallEvent): void;
  /** One request to PD has ended. */
  pdCall?(method: string, durationMs: number, ok: boolean): void;
  /** Timestamps that came with one request to PD. */
  timestamps?(count: number, durationMs: number): void;
  /** A location was not in the region cache, or an error made it leave. */
  regionMiss?(reason: string): void;
  backoff?(kind: BackoffName, delayMs: number): void;
  /** One message of a BatchCommands stream was written. */
  batch?(storeId: number, requests: number, bytes: number): void;
  /** A lock of another transaction was met, and what became of it. */
  lock?(fate: 'committed' | 'rolled-back' | 'alive' | 'pushed'): void;
  /** A transaction has ended; durations of all phases that the caller waited for. */
  transaction?(event: TransactionEvent): void;
  /** Starts a span around a call of the public face; the function returned ends it. */
  span?(name: string): (error?: unknown) => void;
}

export interface StoreCallEvent {
  readonly command: string;
  readonly storeId: number;
  readonly durationMs: number;
  readonly outcome: 'ok' | 'region-error' | 'transport-error';
  /** The kind of region error, in the words of errorpb. */
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
