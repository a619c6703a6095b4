import type { FlagGroup, FlagSpec, FlagType } from './flag-spec.ts';

const flag = (group: FlagGroup, name: string, type: FlagType, value: string, help: string): FlagSpec => ({
  name,
  type,
  value,
  group,
  help,
});

/** The flags of `engram restore`: those of `etcdutl snapshot restore` (etcd 3.7), then its own. */
export const restoreFlags: ReadonlyMap<string, FlagSpec> = new Map(
  [
    flag('works', 'data-dir', 'string', '', 'Path to the new data directory; empty: the name with .etcd behind it.'),
    flag('works', 'name', 'string', 'default', 'Human-readable name of the member.'),
    flag('works', 'bump-revision', 'uint', '0', 'How much to increase the latest revision after restore.'),
    flag(
      'works',
      'mark-compacted',
      'bool',
      'false',
      'Count all revisions before the latest one after restore as compacted; required if --bump-revision > 0, disallowed otherwise.',
    ),
    flag(
      'works',
      'skip-hash-check',
      'bool',
      'false',
      'Ignore the hash at the end of the file; required for the file of a data directory, which has none.',
    ),
    flag(
      'works',
      'initial-cluster',
      'string',
      '',
      'With --storage=tikv: all members of the new cluster. Otherwise this member alone, or empty.',
    ),
    flag(
      'works',
      'initial-advertise-peer-urls',
      'urls',
      'http://localhost:2380',
      'Must be those in --initial-cluster.',
    ),
    flag(
      'ignored',
      'initial-cluster-token',
      'string',
      'etcd-cluster',
      'With --storage=tikv: as its members will have it. Otherwise without effect: a node that is alone draws its ids at its first start.',
    ),
    flag('ignored', 'wal-dir', 'string', '', 'The log and the data are one, below --data-dir.'),
    flag('ignored', 'initial-memory-map-size', 'uint', '10737418240', 'Nothing is mapped into memory.'),
    flag(
      'works',
      'drop-auth',
      'bool',
      'false',
      'Leave users and roles out: whoever reaches the restored store may read and write all of it.',
    ),
    flag(
      'works',
      'storage',
      'string',
      'segment',
      "'segment': the data directory of a node that is alone. 'tikv': a fresh prefix of TiKV, for all members of a cluster at once; --data-dir has a working copy meanwhile.",
    ),
    flag('works', 'tikv-pd-endpoints', 'strings', '', "PD's endpoints, host:port each, for --storage=tikv."),
    flag('works', 'tikv-prefix', 'string', '', 'The prefix to restore into; empty: --initial-cluster-token.'),
    flag('works', 'tikv-cacert', 'string', '', 'Authority of PD and TiKV; asks for TLS.'),
    flag('works', 'tikv-cert', 'string', '', 'Certificate shown to PD and TiKV.'),
    flag('works', 'tikv-key', 'string', '', 'Key of --tikv-cert.'),
    flag(
      'works',
      'discard-unfinished',
      'bool',
      'false',
      'With --storage=tikv: replace what a restore that was ended has left at the prefix.',
    ),
  ].map((spec) => [spec.name, spec]),
);
