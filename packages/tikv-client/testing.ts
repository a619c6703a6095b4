// A deterministic, scriptable TiKV cluster in one process, for tests of code that uses the client.
export {
  FakeCluster,
  type FakeClusterOptions,
  type Fault,
  type Script,
  type AnswerOrder,
} from './src/testing/fake-cluster.ts';
export type { FakeCall } from './src/testing/fake-store.ts';
export type { CommandName } from './src/testing/store-commands.ts';
export type { FakeMvcc, Flavour } from './src/testing/fake-mvcc.ts';
export type { FakeLock, FakeRow, FakeWrite } from './src/testing/fake-rows.ts';
export type { FakeRegions, FakeRegion } from './src/testing/fake-regions.ts';
export type { FakePd } from './src/testing/fake-pd.ts';

// The checks of the strictest server. The scripted cluster applies them, and so does a proxy in front of real servers.
export { Refusal } from './src/testing/strict/refusal.ts';
export { StrictChecker, type StrictOptions } from './src/testing/strict/strict-checker.ts';
export { StrictProxy, type StrictProxyOptions } from './src/testing/strict/strict-proxy.ts';

// For tests that put a transport of their own between the client and its servers.
export {
  type Channel,
  type MessageStream,
  type StreamEvents,
  type Transport,
  TransportError,
  type UnaryOptions,
} from './src/transport/transport.ts';
export { Loopback } from './src/testing/loopback.ts';
export { LatePd } from './src/testing/late-pd.ts';
export { GrpcTransport } from './src/transport/grpc-transport.ts';
