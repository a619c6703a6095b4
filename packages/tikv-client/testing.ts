// A cluster of TiKV in one process, for tests of what is built on the client: deterministic, and scriptable.
export {
  FakeCluster,
  type FakeClusterOptions,
  type Fault,
  type Script,
  type AnswerOrder,
} from './src/testing/fake-cluster.ts';
export type { FakeCall, CommandName } from './src/testing/fake-store.ts';
export type { FakeMvcc, FakeLock, FakeWrite, Flavour } from './src/testing/fake-mvcc.ts';
export type { FakeRegions, FakeRegion } from './src/testing/fake-regions.ts';
export type { FakePd } from './src/testing/fake-pd.ts';

// For tests that put something between the client and real servers.
export { GrpcTransport } from './src/transport/grpc-transport.ts';
