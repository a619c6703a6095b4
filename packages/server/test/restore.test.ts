import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { quiet, realClock, realRandom } from '@engram/sim';
import { etcdserverpb } from '@engram/wire';
import { type RestoreParts, restoreSnapshot } from '../src/restore/restore-snapshot.ts';
import { Engram, run } from './support/engram-process.ts';
import { GrpcClient } from './support/grpc-client.ts';

const ALL = etcdserverpb.encodeRangeRequest({ key: Uint8Array.of(0), rangeEnd: Uint8Array.of(0) });
const LEASE = 77n;
let scratch: string;
let snapshot: string;
let keys: readonly unknown[];
let made = 0;

function newPath(): string {
  made += 1;
  return join(scratch, `dir-${made}`);
}
const oneLine = (stderr: string): Record<string, unknown> => JSON.parse(stderr.trimEnd().split('\n').at(-1)!);

async function readAll(client: GrpcClient): Promise<etcdserverpb.RangeResponse> {
  return etcdserverpb.decodeRangeResponse(await client.unary('/etcdserverpb.KV/Range', ALL));
}

beforeAll(async () => {
  scratch = mkdtempSync(join(tmpdir(), 'engram-restore-'));
  snapshot = join(scratch, 'saved.db');
  await using engram = await Engram.start();
  using client = new GrpcClient(engram.url);
  await client.unary('/etcdserverpb.Lease/LeaseGrant', etcdserverpb.encodeLeaseGrantRequest({ ID: LEASE, TTL: 3600 }));
  const leased = { key: Buffer.from('leased'), value: Buffer.from('x'), lease: LEASE };
  await client.unary('/etcdserverpb.KV/Put', etcdserverpb.encodePutRequest(leased));
  for (let at = 0; at < 200; at += 1) await client.put(`key-${at % 50}`, 'v'.repeat(at * 20));
  const { messages } = await client.call('/etcdserverpb.Maintenance/Snapshot', new Uint8Array(0));
  writeFileSync(snapshot, Buffer.concat(messages.map((bytes) => etcdserverpb.decodeSnapshotResponse(bytes).blob)));
  keys = (await readAll(client)).kvs;
});
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

test('a second signal ends a restore that does not end yet', async () => {
  const silent = createServer(() => {}).listen(0, '127.0.0.1'); // a PD that does not answer for 30 s
  await once(silent, 'listening');
  const pd = `--tikv-pd-endpoints=127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const args = ['restore', snapshot, '--data-dir', newPath(), '--storage=tikv', pd];
  await using engram = await Engram.start(args, { defaults: false, until: 'PD does not answer yet' });
  engram.child.kill('SIGINT');
  const { code, tookMs } = await engram.stop('SIGTERM');
  silent.close();
  expect(code).toBe(1);
  expect(tookMs).toBeLessThan(10_000);
  expect(engram.lines.at(-1)).toMatchObject({ level: 'fatal', msg: 'received a second signal; ending at once' });
});

test('a node starts from a restored snapshot, and is a new member of a new cluster with the same store', async () => {
  const dataDir = newPath();
  const { code, stdout, stderr } = await run(['restore', snapshot, '--data-dir', dataDir]);
  expect(stderr).toBe('');
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^restored \S+saved\.db into \S+\nhash: +[0-9a-f]+\nrevision: +202\ntotal keys: +51\ntotal size: +\d+\n/,
  );
  expect(stdout).toContain(`total size:       ${statSync(snapshot).size - 32}\nstorage version:  3.7.0\n`);
  expect(readdirSync(dataDir)).toEqual(['engram']);
  expect(readdirSync(join(dataDir, 'engram'))).toEqual(['segments']);
  for (const start of [1, 2]) {
    await using engram = await Engram.start([], { dataDir });
    using client = new GrpcClient(engram.url);
    const { kvs, header } = await readAll(client);
    expect(kvs.filter(({ key }) => !Buffer.from(key).toString().startsWith('start'))).toEqual(keys);
    expect(header?.revision).toBe(201 + start);
    expect(await client.put(`start-${start}`, '')).toBe(202 + start);
    const asked = etcdserverpb.encodeLeaseTimeToLiveRequest({ ID: LEASE, keys: true });
    const lease = etcdserverpb.decodeLeaseTimeToLiveResponse(
      await client.unary('/etcdserverpb.Lease/LeaseTimeToLive', asked),
    );
    expect(lease.keys.map((key) => Buffer.from(key).toString())).toEqual(['leased']);
    await engram.stop();
  }
});

test('the revision is raised as asked for', async () => {
  const dataDir = newPath();
  const args = ['restore', snapshot, '--data-dir', dataDir, '--bump-revision', '1000', '--mark-compacted'];
  expect((await run(args)).stdout).toContain('revision:         1202\n');
  await using engram = await Engram.start([], { dataDir });
  using client = new GrpcClient(engram.url);
  expect((await readAll(client)).header?.revision).toBe(1202);
});

test.each<readonly [what: string, problem: string, prepare: () => { file?: string; dataDir?: string }]>([
  ['no file', 'cannot read the snapshot', () => ({ file: join(scratch, 'none.db') })],
  ['a directory', 'is no file: of a data directory of etcd, give member/snap/db', () => ({ file: scratch })],
  [
    'a file with another byte',
    'expected sha256',
    () => {
      const bytes = readFileSync(snapshot);
      bytes[bytes.length >> 1] = bytes[bytes.length >> 1]! ^ 1;
      const file = join(scratch, 'damaged.db');
      writeFileSync(file, bytes);
      return { file };
    },
  ],
  [
    'a file without its hash',
    'snapshot missing hash but --skip-hash-check=false',
    () => {
      const file = join(scratch, 'cut.db');
      writeFileSync(file, readFileSync(snapshot).subarray(0, -32));
      return { file };
    },
  ],
])('%s is refused, and nothing is left: %s', async (_what, problem, prepare) => {
  const dataDir = newPath();
  const { file = snapshot } = prepare();
  const { code, stdout, stderr } = await run(['restore', file, '--data-dir', dataDir]);
  expect(oneLine(stderr)).toMatchObject({
    level: 'fatal',
    msg: 'cannot restore',
    error: expect.stringContaining(problem),
  });
  expect([code, stdout]).toEqual([1, '']);
  expect(existsSync(dataDir)).toBe(false);
});

test('a directory that is not empty is refused, and stays as it is', async () => {
  for (const name of ['engram', 'member', 'anything']) {
    const dataDir = newPath();
    mkdirSync(join(dataDir, name), { recursive: true });
    const { code, stderr } = await run(['restore', snapshot, '--data-dir', dataDir]);
    expect(oneLine(stderr)['error']).toBe(`data-dir ${JSON.stringify(dataDir)} not empty or could not be read`);
    expect(code).toBe(1);
    expect(readdirSync(dataDir)).toEqual([name]);
  }
  const file = newPath();
  writeFileSync(file, '');
  expect(oneLine((await run(['restore', snapshot, '--data-dir', file])).stderr)['error']).toContain(
    'not empty or could',
  );
});

/** What `restoreSnapshot` does in this process. */
const restoring = (file: string, dataDir: string, parts: Partial<RestoreParts> = {}): Promise<string> =>
  restoreSnapshot(
    {
      snapshot: file,
      dataDir,
      cluster: undefined,
      bumpRevision: 0,
      skipHashCheck: true,
      dropAuth: false,
      warnings: [],
    },
    {
      clock: realClock,
      random: realRandom,
      logger: quiet,
      terminal: { write: () => {} },
      signal: new AbortController().signal,
      ...parts,
    },
  );

test('a failure after the work has begun leaves nothing, and an empty directory empty', async () => {
  // Sound pages, and a history that is none: the first version of a key is of another key.
  const whole = readFileSync(snapshot);
  const place = whole.indexOf('key-49');
  const file = join(scratch, 'gap.db');
  whole.write('yek', place);
  writeFileSync(file, whole);
  const missing = newPath();
  await expect(restoring(file, missing)).rejects.toMatchObject({ name: 'ImportError', fault: 'damaged' });
  expect(existsSync(missing)).toBe(false);
  const empty = newPath();
  mkdirSync(join(empty, 'lost+found'), { recursive: true });
  await expect(restoring(file, empty)).rejects.toMatchObject({ fault: 'damaged' });
  expect(readdirSync(empty)).toEqual(['lost+found']);
  await restoring(snapshot, empty);
  expect(readdirSync(empty).toSorted()).toEqual(['engram', 'lost+found']);
});

test('a restore that is stopped leaves nothing', async () => {
  const dataDir = newPath();
  const signal = AbortSignal.abort(new Error('stopped by SIGINT'));
  await expect(restoring(snapshot, dataDir, { signal })).rejects.toThrow('SIGINT');
  expect(existsSync(dataDir)).toBe(false);
});

test('a file to which somebody writes meanwhile is refused', async () => {
  const file = join(scratch, 'moving.db');
  writeFileSync(file, readFileSync(snapshot));
  const dataDir = newPath();
  const work = restoring(file, dataDir);
  utimesSync(file, 1, 1);
  await expect(work).rejects.toThrow('has changed while it was read: stop the etcd that has it open');
  expect(existsSync(dataDir)).toBe(false);
});

test('until the whole store is durable it has a name that neither a start nor another restore takes', async () => {
  const dataDir = newPath();
  const seen = new Set<string>();
  const terminal = {
    isTTY: true,
    write: (): void => {
      for (const name of existsSync(dataDir) ? readdirSync(dataDir) : []) seen.add(name);
    },
  };
  let nowMs = 0;
  const clock = Object.assign(Object.create(realClock), { nowMs: () => (nowMs += 1000) });
  await restoring(snapshot, dataDir, { terminal, clock });
  expect([...seen]).toContain('engram.new');
  // What a kill before the last step leaves.
  renameSync(join(dataDir, 'engram'), join(dataDir, 'engram.new'));
  const started = await run(['--data-dir', dataDir]);
  expect(oneLine(started.stderr)['error']).toContain(`remove ${join(dataDir, 'engram.new')} and restore again`);
  const again = await run(['restore', snapshot, '--data-dir', dataDir]);
  expect(oneLine(again.stderr)['error']).toContain(`${join(dataDir, 'engram.new')} is of a restore that runs`);
  expect(readdirSync(dataDir)).toEqual(['engram.new']);
});

test('a terminal sees how far it is, and anything else sees nothing', async () => {
  const shown: string[] = [];
  await restoring(snapshot, newPath(), { terminal: { isTTY: true, write: (text) => shown.push(text) } });
  const cleared = '\r\x1b[K';
  const [first, last] = [shown[0] ?? '', shown.at(-1)];
  expect(first.slice(cleared.length)).toMatch(/^(?:verifying|restoring): \d+ % of 1 MiB$/);
  expect([first.startsWith(cleared), last]).toEqual([true, cleared]);
  const { stderr } = await run(['restore', snapshot, '--data-dir', newPath()]);
  expect(stderr).toBe('');
});
