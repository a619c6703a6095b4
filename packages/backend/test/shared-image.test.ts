import { nodeItself } from '@engram/backend';
import { decodeCheckpointEntries, decodeCheckpointHeader, decodeKeyValue, recordKv } from '@engram/coder';
import { keyText, leaseId, type LogPosition, type VersionMeta } from '@engram/core';
import { finish, unhurried } from '@engram/loop';
import {
  type Checkpoint,
  type ImageBase,
  type ImagePart,
  MemoryStorage,
  noImageBase,
  type Storage,
  StorageTrimmedError,
} from '@engram/storage';
import { expect, test } from 'vitest';
import { type Node, openNode } from './harness.ts';
import { Gate, put, remove } from './ops.ts';

const never = new AbortController().signal;
const atOnce = { pageBytes: 100, pace: async () => {}, signal: never };

/** The versions that chunks name and the records that pages hold, as `position key@mod`. */
async function read(parts: (base: ImageBase) => AsyncIterable<ImagePart>, base = noImageBase) {
  const named: string[] = [];
  const held: string[] = [];
  const kept: LogPosition[] = [];
  let pages = 0;
  let from: LogPosition | undefined;
  for await (const part of parts(base)) {
    if (part.kind === 'page') {
      pages += 1;
      for (const [at, record] of part.records.entries()) {
        const { key, modRevision } = decodeKeyValue(recordKv(record));
        held.push(`${part.positions[at]} ${keyText(key)}@${modRevision}`);
      }
    } else if (part.kind === 'kept') {
      kept.push(...part.positions);
    } else if (from === undefined) {
      from = decodeCheckpointHeader(part.bytes).nextPosition;
    } else {
      const visit = (key: Uint8Array, versions: readonly VersionMeta[]): void => {
        for (const version of versions) named.push(`${version.position} ${keyText(key)}@${version.modRevision}`);
      };
      finish(decodeCheckpointEntries(part.bytes, visit, unhurried));
    }
  }
  return { named, held, kept, pages, from };
}

const write = async ({ backend }: Node, ...txns: ReturnType<typeof put>[]): Promise<void> => {
  for (const txn of txns) await backend.txn(txn, nodeItself);
};

test('an image has the record of each version that it names, tombstones too, and nothing that is compacted', async () => {
  const node = await openNode(new MemoryStorage());
  await using backend = node.backend;
  await write(node, put('a', '1'), put('b', '2'), put('a', '3'), remove('b'), put('c', 'x'.repeat(300)), put('a', '4'));
  const whole = backend.replica.sharedImage(atOnce);
  expect(whole.from).toBe(7);
  const { named, held, pages, from } = await read(whole.parts);
  expect(from).toBe(7);
  expect(named).toEqual(['1 a@2', '3 a@4', '6 a@7', '2 b@3', '4 b@5', '5 c@6']);
  expect(held).toEqual(named);
  expect(pages).toBeGreaterThan(1);
  await backend.compact(5, true, nodeItself);
  const compacted = await read(backend.replica.sharedImage(atOnce).parts);
  expect(compacted.named).toEqual(['3 a@4', '6 a@7', '4 b@5', '5 c@6']);
  expect(compacted.held).toEqual(compacted.named);
});

/** The pages of an image that was read, as the base of the next one. */
function baseOf(pages: readonly (readonly LogPosition[])[]): ImageBase {
  const same = (left: readonly LogPosition[], right: readonly LogPosition[]): boolean => left.join() === right.join();
  return {
    recordsFrom: (first) => pages.find((page) => page[0] === first)?.length ?? 0,
    has: (positions) => pages.some((page) => same(page, positions)),
  };
}

/** The pages of an image on top of `base`, and which of them it keeps and writes. */
async function pagesOf({ backend }: Node, base: ImageBase, pageBytes = 60) {
  const all: (readonly LogPosition[])[] = [];
  const kept: string[] = [];
  const written: string[] = [];
  for await (const part of backend.replica.sharedImage({ ...atOnce, pageBytes }).parts(base)) {
    if (part.kind === 'chunk') continue;
    all.push(part.positions);
    (part.kind === 'kept' ? kept : written).push(part.positions.join());
  }
  return { all, kept, written };
}

const granted = (lease: bigint) => ({ id: leaseId(lease), ttlSeconds: 100 });

/** Three pages of three keys. Each key has one version: positions 1 to 9. */
async function threePages(sliceSteps = 100) {
  const node = await openNode(new MemoryStorage(), { sliceSteps });
  const keys = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'];
  await write(node, ...keys.map((key) => put(key, '1')));
  const { all, written } = await pagesOf(node, noImageBase);
  expect(written).toEqual(['1,2,3', '4,5,6', '7,8,9']);
  return { node, base: baseOf(all) };
}

test.each([1, 2, 100])(
  'pages without a change are kept, and their records are not read (slices of %i keys)',
  async (sliceSteps) => {
    const { node, base } = await threePages(sliceSteps);
    await using backend = node.backend;
    expect(await pagesOf(node, base)).toMatchObject({ kept: ['1,2,3', '4,5,6', '7,8,9'], written: [] });
    await write(node, put('e', '2'));
    expect(await pagesOf(node, base)).toMatchObject({ kept: ['1,2,3', '7,8,9'], written: ['4,5,10', '6'] });
    expect(backend.replica.pins.size).toBe(0);
  },
);

test.each([
  ['a put at the first key', put('d', '2'), ['4,10,5', '6']],
  ['a put at the last key', put('f', '2'), ['10']],
  ['a delete', remove('e'), ['4,5,10', '6']],
  ['a key before the first one', put('cc', '2'), ['10']],
  ['a key behind the last one', put('ff', '2'), ['10']],
  ['a key that moves to a lease', put('e', '1', { lease: leaseId(7n) }), ['4,5,11', '6']],
] as const)('%s makes its page dirty, and no other', async (_what, txn, due) => {
  const { node, base } = await threePages();
  await using backend = node.backend;
  if (due.join().includes('11')) await backend.leaseGrant(granted(7n).id, granted(7n).ttlSeconds, nodeItself);
  await write(node, txn);
  const { written, kept } = await pagesOf(node, base);
  expect(written).toEqual(due);
  expect(kept.length + (due.length === 1 ? 0 : 1)).toBe(3);
});

test('a compaction, and the end of a lease, make those pages dirty of which they take versions', async () => {
  const { node } = await threePages();
  await using backend = node.backend;
  await backend.leaseGrant(granted(7n).id, granted(7n).ttlSeconds, nodeItself);
  await write(node, put('e', '2', { lease: leaseId(7n) }), put('h', '2'), remove('i'));
  let before = await pagesOf(node, noImageBase, 30);
  const next = async (): Promise<{ readonly kept: readonly string[]; readonly written: readonly string[] }> => {
    const base = baseOf(before.all);
    before = await pagesOf(node, base, 30);
    // Kept and written pages together equal an image without a base.
    expect(before.all.flat()).toEqual((await pagesOf(node, noImageBase, 30)).all.flat());
    return before;
  };
  expect((await next()).written).toEqual([]);
  await backend.leaseRevoke(leaseId(7n), nodeItself);
  expect((await next()).written.join().split(',')).toContain('15');
  await backend.compact(backend.revision, true, nodeItself);
  const { kept, written } = await next();
  expect(kept.length).toBeGreaterThan(0);
  expect(written.length).toBeGreaterThan(0);
  const positions = before.all.flat();
  for (const gone of [5, 8, 9, 11, 13]) expect(positions).not.toContain(gone);
});

test('small pages join the dirty ones before them, so that they do not become many', async () => {
  const { node } = await threePages();
  await using _ = node.backend;
  const small = baseOf([[1], [2], [3], [4], [5], [6], [7], [8], [9]] as LogPosition[][]);
  await write(node, put('a', '2'));
  expect((await pagesOf(node, small, 1000)).written).toEqual(['10,2,3,4,5,6,7,8,9']);
});

test('keys that are created while it is taken are left to the replay, and do not make it longer', async () => {
  const node = await openNode(new MemoryStorage(), { sliceSteps: 1 });
  await using backend = node.backend;
  await write(node, put('a', '1'), put('b', '1'), put('d', '1'));
  let created = 0;
  const pace = async (): Promise<void> => {
    // Each new key sorts after the walk's place, like keys that ascend with time.
    if (created < 20) await write(node, put(`e${created++}`.padEnd(4, '0'), '2'), put('d', `${created}`));
  };
  const { named, held, from } = await read(backend.replica.sharedImage({ ...atOnce, pageBytes: 1, pace }).parts);
  expect(from).toBe(4);
  expect(named).toEqual(['1 a@2', '2 b@3', '3 d@4', '5 d@6', '7 d@8']);
  expect(held).toEqual(named);
  expect(created).toBe(3);
});

test('what is not durable yet is not in it', async () => {
  const gate = new Gate('append');
  const node = await openNode(new MemoryStorage(gate));
  await using backend = node.backend;
  await write(node, put('a', '1'));
  gate.shut = true;
  const writing = backend.txn(put('a', '2'), nodeItself);
  const other = backend.txn(put('b', '2'), nodeItself);
  await node.clock.settle(5);
  const image = backend.replica.sharedImage(atOnce);
  expect(image.from).toBe(2);
  const { named, held } = await read(image.parts);
  expect(named).toEqual(['1 a@2']);
  expect(held).toEqual(['1 a@2']);
  gate.open();
  await Promise.all([writing, other]);
});

test('a compaction waits until the records of what was named are read', async () => {
  const node = await openNode(new MemoryStorage(), { cacheBytesMax: 1 });
  await using backend = node.backend;
  await write(node, put('a', '1'), put('a', '2'), put('a', '3'));
  const paced = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const pace = (): Promise<void> => {
    asked.resolve();
    return paced.promise;
  };
  const reading = read(backend.replica.sharedImage({ ...atOnce, pace }).parts);
  await asked.promise;
  const compacting = backend.compact(4, true, nodeItself);
  await node.clock.settle(20);
  paced.resolve();
  const { named, held } = await reading;
  expect(named).toEqual(['1 a@2', '2 a@3', '3 a@4']);
  expect(held).toEqual(named);
  await compacting;
  expect(backend.replica.pins.size).toBe(0);
  expect((await read(backend.replica.sharedImage(atOnce).parts)).named).toEqual(['3 a@4']);
});

test('a compaction does not wait for all long records of an image that is paced', async () => {
  const { backend, clock } = await openNode(new MemoryStorage());
  await using _backend = backend;
  const keys = Array.from({ length: 40 }, (_, at) => `k${at + 10}`);
  for (const key of [...keys, 'k10']) await backend.txn(put(key, 'v'.repeat(100_000)), nodeItself);
  const versions: number[] = [];
  const pace = async (): Promise<void> => {
    if (versions.length === 0) void backend.compact(backend.revision, false, nodeItself);
    await clock.pass(100);
    versions.push(backend.replica.state.index.versions);
  };
  await read(backend.replica.sharedImage({ ...atOnce, pace }).parts);
  // Each read has half a MiB of the four.
  expect(versions.length).toBeGreaterThan(5);
  expect(versions.slice(0, 4)).toContain(40);
});

test('who stops taking parts leaves no pin', async () => {
  const node = await openNode(new MemoryStorage());
  await using backend = node.backend;
  await write(node, put('a', '1'), put('b', '2'));
  const pace = (): Promise<void> => Promise.reject(new Error('leads no more'));
  await expect(read(backend.replica.sharedImage({ ...atOnce, pace }).parts)).rejects.toThrow('leads no more');
  expect(backend.replica.pins.size).toBe(0);
});

test('a start whose image is replaced while it is read begins again, and not for ever', async () => {
  const first = await openNode(new MemoryStorage());
  const chunks: Uint8Array[] = [];
  await using _ = first.backend;
  await write(first, put('a', '1'));
  for await (const part of first.backend.replica.sharedImage(atOnce).parts(noImageBase))
    if (part.kind === 'chunk') chunks.push(part.bytes);

  /** The log after the image is empty. */
  const open = async (replacedTimes: number): Promise<number> => {
    const memory = new MemoryStorage();
    const { log } = memory;
    await log.seal({ epoch: 1 as never, holder: 1n });
    expect((await log.append({ first: 1 as LogPosition, records: [Uint8Array.of(8)] }, sealed)).kind).toBe('committed');
    let loads = 0;
    const checkpoint = async (): Promise<Checkpoint> => ({
      from: 2 as LogPosition,
      async *chunks() {
        loads += 1;
        if (loads <= replacedTimes) throw new StorageTrimmedError('replaced');
        yield* chunks;
      },
    });
    const values = new Proxy(memory.values, {
      get(target, name) {
        if (name === 'loadCheckpoint') return checkpoint;
        const value: unknown = Reflect.get(target, name);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    const storage: Storage = { log, values, [Symbol.asyncDispose]: () => memory[Symbol.asyncDispose]() };
    const node = await openNode(storage, { epoch: 2 });
    await using backend = node.backend;
    expect(backend.revision).toBe(2);
    return loads;
  };
  expect(await open(0)).toBe(1);
  expect(await open(3)).toBe(4);
  await expect(open(5)).rejects.toThrow('replaced');
});

const sealed = { epoch: 1 as never, holder: 1n };
