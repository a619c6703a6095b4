import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ctl, ctlProcess, Engram, engramctlPath, PATIENT } from './support/processes.ts';
import { kubeProtobuf } from './support/kube.ts';
import { cutFile, Store } from './support/store.ts';

/** Keys of more than one page. */
const MANY = 700;
let scratch: string;
let engram: Engram;
let store: Store;
let snapshot: string;
/** The revision behind everything that `beforeAll` writes. */
let written: number;

const on = (...args: readonly string[]): readonly string[] => [...args, ...PATIENT, '--endpoints', engram.address];

beforeAll(async () => {
  scratch = mkdtempSync(join(tmpdir(), 'engramctl-store-'));
  engram = await Engram.start();
  store = new Store(engram.address);
  await store.grant(77n);
  await store.put('/registry/pods/default/web', kubeProtobuf({ name: 'web' })); // 2
  await store.put('/registry/pods/default/web', kubeProtobuf({ name: 'web', spec: 'xyz' })); // 3
  await store.put('/registry/pods/prod/api', kubeProtobuf({ name: 'api', namespace: 'prod' }), 77n); // 4
  await store.put(
    '/registry/example.org/widgets/default/w',
    '{"apiVersion":"example.org/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"size":1}}',
  ); // 5
  await store.put(
    '/registry/example.org/widgets/default/w',
    '{"apiVersion":"example.org/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"size":2}}',
  ); // 6
  await store.put('/registry/secrets/default/s', 'k8s:enc:aescbc:v1:key1:\0'); // 7
  await store.put('/registry/pods/default/gone', 'x'); // 8
  await store.remove('/registry/pods/default/gone'); // 9
  for (let at = 0; at < MANY; at += 1)
    await store.put(`/registry/events/ns-${at % 3}/e-${at}`, kubeProtobuf({ kind: 'Event', name: `e-${at}` }));
  written = await store.put(Buffer.from([0xff, 0x01]), 'binary');
  snapshot = join(scratch, 'saved.db');
  await store.saveSnapshot(snapshot);
});
afterAll(async () => {
  store[Symbol.dispose]();
  await engram[Symbol.asyncDispose]();
  rmSync(scratch, { recursive: true });
});

/** Every file of a folder, and its bytes. */
const filesOf = (folder: string): readonly (readonly [string, string])[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .sort()
    .map((path) => [path, readFileSync(path, 'latin1')]);

const copiesOfStores = (): readonly string[] =>
  readdirSync(tmpdir()).filter((name) => name.startsWith('engram-stopped-'));

/** The tree without the line that names where it is from. */
const lines = (out: string): readonly string[] => out.split('\n').slice(1, -1);

describe('inspect', () => {
  test('of a live store is a tree, all of it at one revision', async () => {
    const { code, out, err } = await ctl(on('inspect'));
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(
      new RegExp(`^${engram.address}: revision ${written}, ${MANY + 5} keys, [\\d.]+ kB, ${MANY + 7} changes\n`),
    );
    expect(lines(out).map((line) => line.replace(/, [\d.]+ k?B.*?(,|$)/, '$1'))).toEqual([
      expect.stringContaining(`├─ events: ${MANY} keys, ${MANY} changes [protobuf; v1 Event]`),
      expect.stringMatching(/^│ {2}├─ ns-\d: \d+ keys/),
      expect.stringMatching(/^│ {2}├─ ns-\d: \d+ keys/),
      expect.stringMatching(/^│ {2}└─ ns-\d: \d+ keys/),
      expect.stringContaining('├─ pods: 2 keys, 3 changes [protobuf; v1 Pod]'),
      '│  ├─ default: 1 key, 2 changes',
      '│  └─ prod: 1 key, 1 change',
      expect.stringContaining('├─ example.org/widgets: 1 key, 2 changes [json; example.org/v1 Widget]'),
      '│  └─ default: 1 key, 2 changes',
      expect.stringContaining('├─ secrets: 1 key, 1 change [encrypted aescbc:v1:key1]'),
      '│  └─ default: 1 key, 1 change',
      expect.stringContaining('└─ (other keys): 1 key, 1 change [other]'),
    ]);
  });

  test('of a prefix decodes each key, and never prints what a terminal would obey', async () => {
    const { out } = await ctl(on('inspect', '--prefix', '/registry/pods/', '--decode'));
    expect(out).toMatch(
      /^\/registry\/pods\/default\/web protobuf v1 Pod default\/web uid u-1 \d+ B version 2 created 2 modified 3\n/,
    );
    expect(out).toMatch(
      /\n\/registry\/pods\/prod\/api protobuf v1 Pod prod\/api uid u-1 \d+ B version 1 created 4 modified 4 lease 4d\n$/,
    );
    const json = await ctl(on('inspect', '--prefix', '/registry/secrets/', '--decode', '-o', 'json'));
    expect(JSON.parse(json.out)).toMatchObject({ valueBytes: 24, value: { form: 'encrypted', keyName: 'key1' } });
    expect((await ctl(on('inspect', '--decode'))).out).toContain('\n\\xff\\x01 other 6 B version 1');
  });

  test('of more keys than a page has them all once', async () => {
    const { out } = await ctl(on('inspect', '--prefix', '/registry/events/', '--decode', '-o', 'json'));
    const keys = out
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line).key);
    expect([keys.length, new Set(keys).size]).toEqual([MANY, MANY]);
  });

  test('of values larger than a message may be asks for fewer of them', async () => {
    const { code, out } = await ctl(on('inspect', '--max-recv-bytes=2000'));
    expect([code, out.includes(`${MANY + 5} keys`)]).toEqual([0, true]);
    const none = await ctl(on('inspect', '--max-recv-bytes=20'));
    expect([none.code, none.out]).toEqual([2, '']);
  });

  test('of a snapshot is the same, with the history beside it', async () => {
    const live = await ctl(on('inspect', '-o', 'json'));
    const file = await ctl(['inspect', snapshot, '-o', 'json']);
    expect(file.code).toBe(0);
    const [left, right] = [live, file].map(({ out }) => JSON.parse(out));
    const living = ({ total, resources }: Record<string, unknown[]> & { total: object }): unknown => [
      { ...total, oldVersions: 0, oldBytes: 0, deletions: 0 },
      resources!.map((resource) => ({
        ...(resource as object),
        oldVersions: 0,
        oldBytes: 0,
        deletions: 0,
        namespaces: [],
      })),
    ];
    expect(living(right)).toEqual(living(left));
    expect(right).not.toHaveProperty('compactRevision');
    expect(right).toMatchObject({ name: snapshot, revision: written, total: { oldVersions: 4, deletions: 1 } });
    const tree = await ctl(['inspect', snapshot, '--prefix', '/registry/pods/']);
    expect(tree.out).toContain('pods: 2 keys');
    expect(tree.out).toMatch(/history 3 versions \(1 deletion\)/);
  });

  test('of a data directory of etcd reads its database, which has no hash', async () => {
    const dataDir = join(scratch, 'etcd');
    mkdirSync(join(dataDir, 'member/snap'), { recursive: true });
    cutFile(snapshot, join(dataDir, 'member/snap/db'), -32);
    const { code, out } = await ctl(['inspect', dataDir]);
    expect([code, out.includes(`${MANY + 5} keys`)]).toEqual([0, true]);
    const plain = await ctl(['inspect', join(dataDir, 'member/snap/db')]);
    expect([plain.code, plain.out]).toEqual([3, '']);
    expect(plain.err).toContain('snapshot missing hash but --skip-hash-check=false');
    expect((await ctl(['inspect', '--skip-hash-check', join(dataDir, 'member/snap/db')])).code).toBe(0);
  });

  test('of a data directory of Engram is that of its snapshot, and changes nothing in it', async () => {
    const copy = join(scratch, 'engram-data');
    cpSync(engram.dataDir, copy, { recursive: true });
    const before = filesOf(copy);
    const places = copiesOfStores();
    const { code, out, err } = await ctl(['inspect', copy, '-o', 'json']);
    expect([code, err]).toEqual([0, '']);
    const file = await ctl(['inspect', snapshot, '-o', 'json']);
    expect({ ...JSON.parse(out), name: '' }).toEqual({ ...JSON.parse(file.out), name: '' });
    expect(filesOf(copy)).toEqual(before);
    expect(copiesOfStores()).toEqual(places);
    const other = await ctl(['inspect', scratch]);
    expect([other.code, other.err.includes('is no data directory')]).toEqual([128, true]);
  });

  const directories: readonly (readonly [what: string, problem: string, make: (directory: string) => void])[] = [
    ['has not started', 'holds no store', (directory) => mkdirSync(join(directory, 'engram'), { recursive: true })],
    [
      'was in a cluster',
      'holds the copy of a member of a cluster',
      (directory) => {
        mkdirSync(join(directory, 'engram/copy'), { recursive: true });
        writeFileSync(join(directory, 'engram/copy/any'), '');
      },
    ],
    [
      'has lost its manifest',
      'CURRENT is missing',
      (directory) => {
        cpSync(engram.dataDir, directory, { recursive: true });
        rmSync(join(directory, 'engram/segments/meta/CURRENT'));
      },
    ],
  ];
  test.each(directories)('of a data directory of a member that %s says so', async (_what, problem, make) => {
    const directory = mkdtempSync(join(scratch, 'engram-data-'));
    make(directory);
    const places = copiesOfStores();
    const { code, out, err } = await ctl(['inspect', directory]);
    expect([code, out]).toEqual([3, '']);
    expect(err).toContain(directory);
    expect(err).toContain(problem);
    expect(copiesOfStores()).toEqual(places);
  });

  const files: readonly (readonly [what: string, problem: RegExp, make: (file: string) => void])[] = [
    ['that is cut', /missing hash|shorter|cut|sha256/, (file) => cutFile(snapshot, file, 20_000)],
    [
      'that is cut to a page, and its hash not asked for',
      /the file has 8192 bytes, and says \d+ pages/,
      (file) => cutFile(snapshot, file, 8192 + 32),
    ],
    [
      'with a byte changed',
      /expected sha256/,
      (file) => {
        const bytes = readFileSync(snapshot);
        bytes[bytes.length >> 1]! ^= 1;
        writeFileSync(file, bytes);
      },
    ],
    ['that is empty', /missing hash/, (file) => writeFileSync(file, '')],
    ['of zeros', /bbolt|sha256/, (file) => writeFileSync(file, Buffer.alloc(8192 + 32))],
    ['of another program', /missing hash/, (file) => writeFileSync(file, 'SQLite format 3\0'.repeat(512))],
  ];
  test.each(files)('of a file %s is refused', async (what, problem, make) => {
    const file = join(scratch, 'broken.db');
    make(file);
    const skip = what.includes('not asked') ? ['--skip-hash-check'] : [];
    const { code, out, err } = await ctl(['inspect', file, ...skip]);
    expect([code, out]).toEqual([3, '']);
    expect(err).toMatch(problem);
    expect(err).toContain(`Error: ${file}: `);
  });
});

describe('diff', () => {
  test('of a prefix has what was added, removed and changed', async () => {
    const { code, out } = await ctl(on('diff', '--prefix', '/registry/', '2', '8'));
    expect([code, out]).toEqual([
      0,
      `\
+ /registry/example.org/widgets/default/w version 2, created 5, modified 6
+ /registry/pods/default/gone version 1, created 8, modified 8
~ /registry/pods/default/web version 1 -> 2, created 2, modified 2 -> 3
+ /registry/pods/prod/api version 1, created 4, modified 4
+ /registry/secrets/default/s version 1, created 7, modified 7
4 added, 0 removed, 1 changed between revisions 2 and 8
`,
    ]);
    const removed = await ctl(on('diff', '--prefix', '/registry/pods/', '8', '9'));
    expect(removed.out).toBe(
      '- /registry/pods/default/gone version 1, created 8, modified 8\n0 added, 1 removed, 0 changed between revisions 8 and 9\n',
    );
  });

  test('of a key compares the values, and goes to the newest revision', async () => {
    const { out } = await ctl(on('diff', '/registry/example.org/widgets/default/w', '5'));
    expect(out).toBe(
      `~ /registry/example.org/widgets/default/w version 1 -> 2, created 5, modified 5 -> 6\n    spec.size: 1 -> 2\n0 added, 0 removed, 1 changed between revisions 5 and ${written}\n`,
    );
    const none = await ctl(on('diff', 'nothing', '5'));
    expect(none.out).toBe(`0 added, 0 removed, 0 changed between revisions 5 and ${written}\n`);
  });

  test('of more keys than a page, in every form', async () => {
    const json = await ctl(on('diff', '--prefix', '', '9', '-o', 'json'));
    const changes = json.out
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
    expect(changes.length).toBe(MANY + 1);
    expect(changes[0]).toMatchObject({ change: 'added', to: { version: 1 }, differences: [] });
    const table = await ctl(on('diff', '--prefix', '/registry/', '9', '-w', 'table'));
    expect(table.out.split('CHANGE').length - 1).toBe(2); // of 500 rows each at most
    expect(table.out).toContain(`${MANY} added, 0 removed`);
  });

  test('of a revision that is to come says where the store is', async () => {
    const err = `Error: etcdserver: mvcc: required revision is a future revision: the store is at ${written}\n`;
    for (const revisions of [['1000000'], ['5', '1000000'], ['1000000', '1000001']]) {
      expect(await ctl(on('diff', 'a', ...revisions))).toEqual({ code: 1, out: '', err });
    }
  });
});

describe('history', () => {
  test('of a key has each change, and ends', async () => {
    const { code, out, err } = await ctl(on('history', '/registry/pods/default/web'));
    expect([code, err]).toEqual([0, `2 changes up to revision ${written}\n`]);
    expect(out).toMatch(
      /^2 create \/registry\/pods\/default\/web version 1, \d+ B protobuf\n3 put {4}\/registry\/pods\/default\/web version 2, \d+ B protobuf\n$/,
    );
  });

  test('of a prefix has the deletions, between two revisions', async () => {
    const { out } = await ctl(on('history', '--prefix', '/registry/', '--rev=6', '--to-rev=9', '--values'));
    expect(out).toBe(
      `\
6 put    /registry/example.org/widgets/default/w version 2, 89 B json
    spec.size: 1 -> 2
7 create /registry/secrets/default/s version 1, 24 B encrypted aescbc:v1:key1
8 create /registry/pods/default/gone version 1, 1 B other
9 delete /registry/pods/default/gone
`,
    );
  });

  test('of many changes has them all, or as many as are wanted', async () => {
    const json = await ctl(on('history', '--prefix', '/registry/events/', '-o', 'json'));
    const changes = json.out
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
    expect(changes.map(({ revision }) => revision)).toEqual(Array.from({ length: MANY }, (_, at) => at + 10));
    const patient = ['command-timeout', 'dial-timeout', 'keepalive-time', 'keepalive-timeout'].map(
      (flag) => `--${flag}=1000h`,
    );
    const { address } = engram;
    const slow = await ctl([
      'history',
      '--prefix',
      '/registry/events/',
      '-o',
      'json',
      ...patient,
      '--endpoints',
      address,
    ]);
    expect(slow).toEqual(json);
    const few = await ctl(on('history', '--prefix', '/registry/', '--limit=3', '-w', 'table'));
    expect([few.err, few.out.split('\n').length]).toEqual([`3 changes up to revision ${written}\n`, 8]);
  });

  test('of nothing is empty', async () => {
    expect(await ctl(on('history', 'nothing'))).toEqual({
      code: 0,
      out: '',
      err: `0 changes up to revision ${written}\n`,
    });
  });

  test('from a revision that is to come is refused', async () => {
    const { code, err } = await ctl(on('history', 'a', '--rev=1000000'));
    expect([code, err]).toEqual([
      128,
      expect.stringContaining(`--rev 1000000 is a future revision: the store is at ${written}`),
    ]);
  });
});

describe('restore', () => {
  test('is `engram restore`', async () => {
    const dataDir = join(scratch, 'restored');
    const { code, out, err } = await ctlProcess(['restore', snapshot, '--data-dir', dataDir]);
    expect([code, err]).toEqual([0, '']);
    expect(out).toContain(`restored ${snapshot} into ${dataDir}\n`);
    expect(out).toMatch(new RegExp(`revision: +${written}\n`));
    expect(readdirSync(join(dataDir, 'engram'))).toEqual(['segments']);
    const again = await ctl(['restore', snapshot, '--data-dir', dataDir]);
    expect([again.code, again.out, again.err.includes('not empty')]).toEqual([1, '', true]);
  });
});

describe('migrate, cut-over and mirror', () => {
  test('a cut-over that is refused says why, and ends with 1', { timeout: 120_000 }, async () => {
    await using source = await Engram.start();
    await using moved = await Engram.start([`--from=${source.address}`], 'http', [engramctlPath, 'migrate']);
    await source[Symbol.asyncDispose]();
    const refused = await ctl(['cut-over', `--data-dir=${moved.dataDir}`]);
    expect([refused.code, refused.out]).toEqual([1, '']);
    expect(refused.err).toMatch(/^Error: .+\n$/);
  });

  test('are those of `engram`: a store is followed, takes over, and is brought back', {
    timeout: 120_000,
  }, async () => {
    const restored = join(scratch, 'mirrored');
    expect((await ctl(['restore', snapshot, '--data-dir', restored])).code).toBe(0);
    await using back = await Engram.start([`--data-dir=${restored}`]);
    await using moved = await Engram.start([`--from=${engram.address}`], 'http', [engramctlPath, 'migrate']);
    using writes = new Store(moved.address);
    await expect(writes.put('x', 'y')).rejects.toThrow('takes no writes before the cut-over');
    // Refused until the etcd has said how far it is.
    const cutOver = ['cut-over', `--data-dir=${moved.dataDir}`];
    let ended = await ctl(cutOver);
    while (ended.code !== 0) {
      expect(ended).toMatchObject({ code: 1, out: '', err: expect.stringMatching(/^Error: /) });
      ended = await ctl(cutOver);
    }
    expect(ended).toEqual({ code: 0, out: `cut over at revision ${written}: the store takes writes\n`, err: '' });
    expect(await writes.put('x', 'y')).toBe(written + 1);
    const mirrored = await ctl(['mirror', `--from=${moved.address}`, `--to=${back.address}`, '--until-equal']);
    expect([mirrored.code, mirrored.out]).toEqual([0, `equal at revision ${written + 1}\n`]);
    expect(mirrored.err).toContain(
      `mirrors: each revision becomes one revision of the etcd, from ${written + 1}, to ${written}\n`,
    );
    const change = await ctl([...PATIENT, '--endpoints', back.address, 'diff', 'x', String(written)]);
    expect(change.out).toContain('+ x version 1');
  });
});

describe('after a compaction', () => {
  test('diff and history say what is there, and history begins with it', async () => {
    await store.compact(6);
    const diff = await ctl(on('diff', '--prefix', '/registry/', '3', '8'));
    expect([diff.code, diff.out, diff.err]).toEqual([
      1,
      '',
      'Error: required revision has been compacted: the oldest that is there is 6\n',
    ]);
    const asked = await ctl(on('history', '--prefix', '/registry/', '--rev=3'));
    expect([asked.code, asked.err]).toEqual([
      1,
      'Error: required revision has been compacted: the oldest that is there is 6\n',
    ]);
    const rest = await ctl(on('history', '--prefix', '/registry/', '--to-rev=8'));
    expect([rest.code, rest.err]).toEqual([
      0,
      'the history below revision 6 has been compacted\n3 changes up to revision 8\n',
    ]);
    expect(rest.out.split('\n').map((line) => line.split(' ')[0])).toEqual(['6', '7', '8', '']);
  });
});
