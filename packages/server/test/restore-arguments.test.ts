import { expect, test } from 'vitest';
import { readConfiguration } from '@engram/server';

const restore = (...args: readonly string[]) =>
  readConfiguration(['restore', ...args], { ETCD_DATA_DIR: '/elsewhere' });

test('restore takes a file, and the flags of etcdutl before and behind it', async () => {
  expect(await restore('a.db')).toEqual({
    kind: 'restore',
    config: {
      snapshot: 'a.db',
      dataDir: 'default.etcd',
      bumpRevision: 0,
      skipHashCheck: false,
      dropAuth: false,
      warnings: [],
    },
  });
  expect(
    await restore(
      '--data-dir=d',
      '--skip-hash-check',
      'a.db',
      '--bump-revision',
      '1000000000',
      '--mark-compacted=true',
      '--drop-auth',
      '--name=m1',
      '--initial-cluster=m1=http://10.0.0.1:2380',
      '--initial-advertise-peer-urls=http://10.0.0.1:2380',
      '--initial-cluster-token=t',
      '--wal-dir=w',
    ),
  ).toEqual({
    kind: 'restore',
    config: {
      snapshot: 'a.db',
      dataDir: 'd',
      bumpRevision: 1_000_000_000,
      skipHashCheck: true,
      dropAuth: true,
      warnings: ['flags without effect here: --initial-cluster-token --wal-dir'],
    },
  });
  expect(await restore('a.db', '--name', 'm1')).toMatchObject({ config: { dataDir: 'm1.etcd' } });
});

test.each([
  { args: [], problem: 'snapshot restore requires exactly one argument' },
  { args: ['a.db', 'b.db'], problem: 'snapshot restore requires exactly one argument' },
  { args: [''], problem: 'snapshot restore requires exactly one argument' },
  { args: ['a.db', '--listen-client-urls=http://127.0.0.1:1'], problem: 'flag provided but not defined' },
  { args: ['a.db', '--config-file=c'], problem: 'restore takes no --config-file' },
  { args: ['a.db', '--bump-revision=-1'], problem: 'invalid value "-1" for flag -bump-revision: parse error' },
  { args: ['a.db', '--bump-revision'], problem: 'flag needs an argument: -bump-revision' },
])('restore $args is not understood: $problem', async ({ args, problem }) => {
  expect(await restore(...args)).toEqual({ kind: 'usage', problem: expect.stringContaining(problem) });
});

test.each([
  { args: ['--bump-revision=5'], problem: '[bump-revision mark-compacted]' },
  { args: ['--mark-compacted'], problem: '[bump-revision mark-compacted]' },
  { args: ['--bump-revision=0', '--mark-compacted'], problem: '[bump-revision mark-compacted]' },
  {
    args: ['--initial-cluster=default=http://localhost:2380,b=http://b:2380'],
    problem: '--initial-cluster names 2 members (default, b)',
  },
  { args: ['--initial-cluster=m=http://m:2380'], problem: 'couldn\'t find local name "default"' },
  {
    args: ['--initial-cluster=default=http://m:2380'],
    problem: '--initial-cluster has default=http://m:2380 but missing from --initial-advertise-peer-urls',
  },
  { args: ['--initial-advertise-peer-urls='], problem: '--initial-advertise-peer-urls' },
])('restore $args makes no sense: $problem', async ({ args, problem }) => {
  await expect(restore('a.db', ...args)).rejects.toThrow(problem);
});

test.each([
  { args: ['--help'], kind: 'help' },
  { args: ['a.db', '-h'], kind: 'help' },
  { args: ['--version'], kind: 'version' },
])('restore $args: $kind', async ({ args, kind }) => {
  expect((await restore(...args)).kind).toBe(kind);
});
