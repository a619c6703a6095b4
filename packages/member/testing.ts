// For tests of the repository: whole members over one log, with a network in memory.
export { TestCluster } from './test/cluster.ts';
