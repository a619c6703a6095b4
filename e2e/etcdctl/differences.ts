import type { Difference } from './judge.ts';

/** Every difference that is allowed, with its reason. README.md has them as a table. */
export const keysOnlyLease: Difference = {
  why: 'etcd 3.7 forgets the lease of a key where only keys are asked for (etcd-io/etcd#22209)',
  etcd: /"kvs":\[\{(?!.*lease)/,
  store: /"lease":/,
};

const MEMBERSHIP = 'a node with its data on its own disk is a cluster of one: members need --storage=tikv';
const FIXED = /membership of this cluster is fixed/;
export const memberAdded: Difference = { why: MEMBERSHIP, etcd: /added as learner/, store: FIXED };
export const memberUpdated: Difference = { why: MEMBERSHIP, etcd: /updated in cluster/, store: FIXED };

export const downgradeEnable: Difference = {
  why: 'the data has no older format that a downgrade could prepare',
  etcd: /Downgrade enable success/,
  store: /this server has no older storage version/,
};

export const hashOfCompacted: Difference = {
  why: 'a revision below the last compaction is gone; etcd kept the hash that it took before',
  etcd: /\$endpoint, HASH, 2\n/,
  store: /required revision has been compacted/,
};
