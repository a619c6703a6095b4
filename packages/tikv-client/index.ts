// A client of TiKV and PD: one client for a cluster, snapshots to read, transactions to write.
export { TikvClient, type ClientStatus } from './src/client.ts';
export { type TikvClientOptions, type Settings, defaultSettings } from './src/options.ts';
export type { CallOptions } from './src/runtime/call.ts';
export { Snapshot, type SnapshotOptions, type ScanOptions } from './src/txn/snapshot.ts';
export type { Entry } from './src/txn/scanner.ts';
export { Transaction } from './src/txn/transaction.ts';
export type { CommitOptions, OnePhaseOptions } from './src/txn/commit-options.ts';
export type {
  CommitMode,
  CommitOutcome,
  Conflict,
  NotOnePhase,
  OnePhaseOutcome,
  Settled,
  Undetermined,
} from './src/txn/commit-outcome.ts';
export { TikvError, type TikvErrorCode, tikvErrorTable, isTikvError } from './src/errors.ts';

// Regions, ranges and garbage collection.
export { RegionAdmin, type RegionInfo, type KeyVersions } from './src/admin/region-admin.ts';
export { GcWorker, type GcResult } from './src/gc/gc-worker.ts';
export type { ReplicaChoice } from './src/region/region-sender.ts';

// Ports: a host may pass its own implementations.
export type { Observer, StoreCallEvent, TransactionEvent } from './src/observer.ts';
export type { TlsOptions } from './src/transport/tls.ts';
export {
  type Transport,
  type Channel,
  type MessageStream,
  type StreamEvents,
  type UnaryOptions,
  TransportError,
} from './src/transport/transport.ts';
export { type KeyCodec, apiV1 } from './src/codec/key-codec.ts';
export { type BackoffName, backoffKinds } from './src/backoff/backoff-kinds.ts';
