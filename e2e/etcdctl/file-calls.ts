import { readFile, writeFile } from 'node:fs/promises';
import type { Shown } from './side.ts';
import type { ToolJudge } from './judge.ts';

/**
 * etcdutl on snapshots in the folder of each store: `saved.db`, and `kv.db`, which was taken before there were leases, whose ids each store
 * chooses. hashkv writes to the file that it reads, so that file is no snapshot afterwards.
 */
export async function fileCalls(judge: ToolJudge): Promise<void> {
  for (const side of judge.sides) {
    const saved = await readFile(side.filled('$dir/saved.db'));
    await writeFile(side.filled('$dir/cut.db'), saved.subarray(0, saved.length - 4096));
    await writeFile(side.filled('$dir/changed.db'), Buffer.from(saved).fill(7, 9000, 9010));
    await writeFile(side.filled('$dir/text.db'), 'no database');
  }
  const call = (...args: readonly string[]) => judge.call(args);
  await judge.formats(['snapshot', 'status', '$dir/saved.db'], undefined, { settle: ofOwnPages });
  await call('snapshot', 'status', '$dir/none.db');
  await call('snapshot', 'status');
  await judge.formats(['snapshot', 'status', '$dir/kv.db'], undefined, { settle: ofOwnPages });
  await call('snapshot', 'restore', '$dir/kv.db', '--data-dir=$dir/restored-kv');
  for (const rev of ['12', '2', '30', '99999']) await call('hashkv', '$dir/kv.db', `--rev=${rev}`);
  await judge.formats(['hashkv', '$dir/kv.db']);
  await call('hashkv', '$dir/none.db');
  await call('hashkv');

  const restore = (...args: readonly string[]) => call('snapshot', 'restore', ...args);
  await restore('$dir/saved.db', '--data-dir=$dir/restored');
  await restore('$dir/saved.db', '--data-dir=$dir/restored');
  await restore(
    '$dir/saved.db',
    '--data-dir=$dir/named',
    '--wal-dir=$dir/named-wal',
    '--name=m1',
    '--initial-cluster=m1=http://127.0.0.1:1,m2=http://127.0.0.1:2',
    '--initial-advertise-peer-urls=http://127.0.0.1:1',
    '--initial-cluster-token=other',
    '--initial-memory-map-size=1048576',
  );
  await restore('$dir/saved.db', '--data-dir=$dir/wrong', '--name=m3');
  await restore('$dir/saved.db', '--data-dir=$dir/bumped', '--bump-revision=1000', '--mark-compacted');
  await restore('$dir/saved.db', '--data-dir=$dir/half', '--bump-revision=1000');
  await restore('$dir/changed.db', '--data-dir=$dir/changed');
  await restore('$dir/cut.db', '--data-dir=$dir/cut');
  await restore('$dir/text.db', '--data-dir=$dir/text');
  await restore('$dir/none.db', '--data-dir=$dir/none');
  await restore();
  const db = '$dir/restored/member/snap/db';
  await judge.formats(['hashkv', '$dir/restored-kv/member/snap/db']);
  await restore(db, '--data-dir=$dir/again');
  await restore(db, '--data-dir=$dir/again', '--skip-hash-check');
  await judge.formats(['snapshot', 'status', db], undefined, { settle: ofOwnPages });

  await call('defrag', '--data-dir=$dir/restored');
  await call('defrag', '--data-dir=$dir/none');
  await call('defrag');
  await call('defrag', '--data-dir=$dir/restored-kv');
  await call('hashkv', '$dir/restored-kv/member/snap/db');
  for (const version of ['3.7', '3.6', '3.5', '3.4', '3.8', '3', 'x'])
    await call('migrate', '--data-dir=$dir/restored', `--target-version=${version}`);
  await call('migrate', '--data-dir=$dir/restored', '--target-version=3.5', '--force');
  await call('migrate', '--data-dir=$dir/none', '--target-version=3.6');
  await call('migrate');
  await judge.formats(['snapshot', 'status', db], undefined, { settle: ofOwnPages });
  for (const args of [
    ['help'],
    ['version'],
    ['completion', 'bash'],
    ['help', '--more'],
    ['version', '--more'],
    ['completion'],
  ])
    await judge.call(args);
}

/** The hash and the size of a whole file depend on which pages it has. */
const ofOwnPages = (shown: Shown): Shown => ({
  ...shown,
  stdout: shown.stdout
    .replace(/^[0-9a-f]+, /m, 'HASH, ')
    .replace(/"(hash|totalSize)":\d+/g, '"$1":N')
    .replace(/"(Hash|Size)" : \d+/g, '"$1" : N'),
});
