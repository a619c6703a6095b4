import { nodeItself } from '@engram/backend';
import { decodeCheckpointEntries, decodeCheckpointHeader, decodeKeyValue, recordKv } from '@engram/coder';
import { keyText, type LogPosition } from '@engram/core';
import { type Checkpoint, type ImagePart, MemoryStorage, type Storage, StorageTrimmedError } from '@engram/storage';
import { expect, test } from 'vitest';
import { type Node, openNode } from './harness.ts';
import { Gate, put, remove } from './ops.ts';

const never = new AbortController().signal;
const atOnce = { pageBytes: 100, pace: async () => {}, signal: never };

/** Versions that chunks name, and records that pages have: `position key@mod`. */
async function read(parts: AsyncIterable<ImagePart>) {
  const named: string[] = [];
  const held: string[] = [];
  let pages = 0;
  let from: LogPosition | undefined;
  for await (const part of parts) {
    if (part.kind === 'page') {
      pages += 1;
      for (const [at, record] of part.records.entries()) {
        const { key, modRevision } = decodeKeyValue(recordKv(record));
        held.push(`${part.positions[at]} ${keyText(key)}@${modRevision}`);
      }
    } else if (from === undefined) {
      from = decodeCheckpointHeader(part.bytes).nextPosition;
    } else {
      decodeCheckpointEntries(part.bytes, (key, versions) => {
        for (const version of versions) named.push(`${version.position} ${keyText(key)}@${version.modRevision}`);
      });
    }
  }
  return { named, held, pages, from };
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

test('keys that are created while it is taken are left to the replay, and do not make it longer', async () => {
  const node = await openNode(new MemoryStorage(), { sliceMax: 1 });
  await using backend = node.backend;
  await write(node, put('a', '1'), put('b', '1'), put('d', '1'));
  let created = 0;
  const pace = async (): Promise<void> => {
    // Always one behind the walk, as keys that ascend with time.
    if (created < 20) await write(node, put(`e${created++}`.padEnd(4, '0'), '2'), put('d', `${created}`));
  };
  const { named, held, from } = await read(backend.replica.sharedImage({ ...atOnce, pace }).parts);
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
  for await (const part of first.backend.replica.sharedImage(atOnce).parts)
    if (part.kind === 'chunk') chunks.push(part.bytes);

  /** The log behind the image is empty. */
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
