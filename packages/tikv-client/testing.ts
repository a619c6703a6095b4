// A cluster of TiKV in one process, for tests of what is built on the client: deterministic, and scriptable.
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

// What the strictest server refuses: the scripted cluster has it built in, a proxy before real servers can have it too.
export { Refusal } from './src/testing/strict/refusal.ts';
export { StrictChecker, type StrictOptions } from './src/testing/strict/strict-checker.ts';
export { StrictProxy, type StrictProxyOptions } from './src/testing/strict/strict-proxy.ts';

// For tests that put something between the client and real servers.
export { GrpcTransport } from './src/transport/grpc-transport.ts';
