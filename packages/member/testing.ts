// For tests of the repository: whole members over one log, with a network in memory; and the calls between members, as messages.
export { TestCluster } from './test/cluster.ts';
export * as peerpb from './src/gen/peerpb.ts';
