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
    flag('works', 'initial-cluster', 'string', '', 'Must be this member alone, or empty.'),
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
      'The restored store has a new cluster id, drawn at its first start.',
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
  ].map((spec) => [spec.name, spec]),
);
