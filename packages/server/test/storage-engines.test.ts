import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { etcdserverpb } from '@engram/wire';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Engram, engramPath, run } from './support/engram-process.ts';
import { GrpcClient } from './support/grpc-client.ts';

const engines = ['segment', 'leveldb'] as const;
/** One value for each round and key. LevelDB compresses, so the bytes are random. */
const values = Array.from({ length: 5 }, () => Array.from({ length: 100 }, () => randomBytes(1500).toString('base64')));

const QUOTA_BYTES = 16_000_000;
/**
 * What the files may hold beyond the quota. LevelDB makes a table of a full write buffer before it deletes the log of that buffer,
 * at a time of its own. It has up to two buffers of 16 MiB: two logs, and the table of the older one.
 */
const unforeseenBytes = { segment: 0, leveldb: 3 * (16 << 20) };

let scratch: string;
beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), 'engram-engines-'));
});
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

async function compact(client: GrpcClient, revision: number, physical = true): Promise<void> {
  const request = etcdserverpb.encodeCompactionRequest({ revision, physical });
  await client.unary('/etcdserverpb.KV/Compact', request);
}

async function defragment(client: GrpcClient): Promise<void> {
  await client.unary('/etcdserverpb.Maintenance/Defragment', new Uint8Array(0));
}

/** The port of the flags' default may be taken. */
const urls = ['--listen-client-urls=http://127.0.0.1:0', '--advertise-client-urls=http://127.0.0.1:0'];

/** The error that the process logs when it ends. */
async function refusal(args: readonly string[]): Promise<string> {
  const { code, stderr } = await run([...args, ...urls]);
  expect(code).toBe(1);
  return String(JSON.parse(stderr.trimEnd().split('\n').at(-1)!).error);
}

describe.each(engines)('--storage=%s', (engine) => {
  test('keeps what was put through a stop, a kill, a compaction and a defragmentation', async () => {
    const dataDir = join(scratch, `kept-${engine}`);
    const flags = [`--storage=${engine}`];
    let revision = 1;
    {
      await using engram = await Engram.start(flags, { dataDir });
      using client = new GrpcClient(engram.url);
      for (const round of values) {
        const puts = round.map((value, key) => client.put(`key-${key}`, value));
        revision = Math.max(revision, ...(await Promise.all(puts)));
      }
      expect(revision).toBe(501);
      expect((await engram.stop('SIGKILL')).code).toBeNull();
    }
    {
      await using engram = await Engram.start(flags, { dataDir });
      using client = new GrpcClient(engram.url);
      expect(await client.get('key-42')).toBe(values[4]![42]);
      const before = await client.status();
      expect(Number(before.header?.revision)).toBe(revision);
      expect(Number(before.dbSize)).toBeGreaterThan(500 * 1500);
      await compact(client, revision);
      await defragment(client);
      const after = await client.status();
      // One of five versions is left, plus a checkpoint and the headers of the files.
      expect(Number(after.dbSize)).toBeLessThan(Number(before.dbSize) / 2);
      expect(Number(after.dbSizeInUse)).toBeLessThanOrEqual(Number(after.dbSize));
      expect(await client.put('last', 'one')).toBe(revision + 1);
      expect((await engram.stop()).code).toBe(0);
    }
    // Without the flag, the directory shows which engine wrote it.
    await using engram = await Engram.start([], { dataDir });
    using client = new GrpcClient(engram.url);
    for (const key of [0, 42, 99]) expect(await client.get(`key-${key}`)).toBe(values[4]![key]);
    expect(await client.get('last')).toBe('one');
  });

  test('refuses the data of the other engine, says how to go on, and leaves it alone', async () => {
    const other = engines.find((each) => each !== engine)!;
    const dataDir = join(scratch, `other-than-${engine}`);
    {
      await using engram = await Engram.start([`--storage=${other}`], { dataDir });
      using client = new GrpcClient(engram.url);
      await client.put('a', '1');
      await engram.stop();
    }
    const files = readdirSync(dataDir, { recursive: true });
    expect(await refusal(['--data-dir', dataDir, `--storage=${engine}`])).toBe(
      `--storage=${engine}, but ${dataDir} holds the data of --storage=${other}: start it with --storage=${other} ` +
        'or without the flag, or give another --data-dir',
    );
    expect(readdirSync(dataDir, { recursive: true })).toEqual(files);
  });

  test.each([true, false])(
    'never refuses a write whose room a compaction has made, with a quota below the size of a file (physical: %s)',
    async (physical) => {
      const dataDir = join(scratch, `space-${engine}-${physical}`);
      await using engram = await Engram.start([`--storage=${engine}`, `--quota-backend-bytes=${QUOTA_BYTES}`], {
        dataDir,
      });
      using client = new GrpcClient(engram.url);
      let [revision, sizeMax] = [1, 0];
      // Four times as much as the quota, of which a tenth lives.
      for (let round = 0; round < 64; round += 1) {
        const puts = values.flatMap((each) => each.map((value, key) => client.put(`key-${key % 100}`, value)));
        revision = Math.max(revision, ...(await Promise.all(puts)));
        await compact(client, revision - 50, physical);
        sizeMax = Math.max(sizeMax, Number((await client.status()).dbSize));
      }
      expect(revision).toBe(1 + 64 * 500);
      expect((await client.status()).errors).toEqual([]);
      // The quota does not count the writes that are under way.
      expect(sizeMax).toBeLessThan(QUOTA_BYTES + 500 * 2500 + unforeseenBytes[engine]);
    },
  );

  test('a disk that takes no more ends the node with one error, and loses nothing that was acknowledged', async () => {
    const dataDir = join(scratch, `full-${engine}`);
    const limited = join(scratch, `limited-${engine}`);
    // Files may grow to 2 MiB (4096 blocks of 512 bytes). A write beyond that fails, as on a full disk.
    writeFileSync(limited, `#!/bin/sh\ntrap '' XFSZ\nulimit -f 4096\nexec ${engramPath} "$@"\n`, { mode: 0o755 });
    const flags = [`--storage=${engine}`];
    const acknowledged = new Map<string, string>();
    {
      await using engram = await Engram.start(flags, { dataDir, command: limited });
      using client = new GrpcClient(engram.url);
      const write = async (writer: number): Promise<void> => {
        for (let count = 0; count < 10_000; count += 1) {
          const [key, value] = [`${writer}-${count}`, randomBytes(3000).toString('base64')];
          await client.put(key, value);
          acknowledged.set(key, value);
        }
      };
      await Promise.allSettled([0, 1, 2, 3].map(write));
      expect(await engram.logged(({ level }) => level === 'fatal')).toMatchObject({
        msg: 'the node cannot go on',
        error: expect.stringMatching(/the log took no more writes: .*(?:EFBIG|File too large)/),
      });
    }
    expect(acknowledged.size).toBeGreaterThan(100);
    await using engram = await Engram.start(flags, { dataDir });
    using client = new GrpcClient(engram.url);
    for (const [key, value] of acknowledged) expect(await client.get(key)).toBe(value);
    await client.put('more', '1');
  });

  test('a data directory has one process', async () => {
    await using engram = await Engram.start([`--storage=${engine}`]);
    expect(await refusal(['--data-dir', engram.dataDir])).toContain('is in use by another process');
  });
});

test('one flipped bit in what was acknowledged keeps a node from starting, and says where', async () => {
  const dataDir = join(scratch, 'flipped');
  {
    await using engram = await Engram.start(['--storage=segment'], { dataDir });
    using client = new GrpcClient(engram.url);
    for (const value of ['first', 'second', 'third']) await client.put('key', value);
    await engram.stop();
  }
  const segment = join(dataDir, 'engram/segments/0000000000000001.seg');
  const bytes = readFileSync(segment);
  const at = bytes.indexOf('second');
  bytes[at] = bytes[at]! ^ 0x10;
  writeFileSync(segment, bytes);
  expect(await refusal(['--data-dir', dataDir])).toMatch(/segment 0000000000000001\.seg is damaged behind record \d+/);
  expect(readFileSync(segment)).toEqual(bytes);
});

test('two storages in one data directory are refused', async () => {
  const dataDir = join(scratch, 'two');
  for (const folder of ['engram/db', 'engram/segments']) {
    mkdirSync(join(dataDir, folder), { recursive: true });
    writeFileSync(join(dataDir, folder, 'a'), 'b');
  }
  expect(await refusal(['--data-dir', dataDir])).toContain('two storages are in one data directory');
});
