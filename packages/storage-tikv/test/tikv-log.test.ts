import { AssertionError, GrpcCode } from '@engram/core';
import { StorageCorruptError, StorageFencedError, StorageUnavailableError } from '@engram/storage';
import { never, sealOf } from '@engram/storage/testing';
import { TikvError } from '@engram/tikv-client';
import { type Transport, TransportError } from '@engram/tikv-client/testing';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { crcOf } from '../src/format/value-crc.ts';
import { at, batchOf, first, record, SimBed } from './sim-bed.ts';

let bed: SimBed;
beforeEach(() => {
  bed = new SimBed();
});

const second = sealOf(2, 9n);

describe('an append', () => {
  test('is one request to a store, and none to PD', async () => {
    const storage = await bed.openSealed();
    await bed.append(storage, batchOf(1, 3));
    await bed.clock.pass(100);
    const { calls, pdCalls } = bed.cluster;
    const before = [calls.length, pdCalls.length];
    for (let position = 4; position < 100; position += 1) await bed.append(storage, batchOf(position));
    expect(calls.slice(before[0]).map(({ command }) => command)).toEqual(new Array(96).fill('Prewrite'));
    expect(pdCalls.length).toBe(before[1]);
  });

  test('has timestamps from a pool, which is filled again beside it', async () => {
    const storage = await bed.openSealed();
    const { pdCalls } = bed.cluster;
    let position = 1;
    for (; position <= 1000; position += 1) await bed.append(storage, batchOf(position));
    const before = pdCalls.length;
    for (; position <= 3000; position += 1) await bed.append(storage, batchOf(position));
    expect(pdCalls.length - before).toBe(1);
  });

  test('goes on while PD is gone, for two minutes', async () => {
    const storage = await bed.openSealed();
    await bed.append(storage, batchOf(1));
    bed.cluster.kill(bed.cluster.pdAddresses[0]!);
    for (const position of [2, 3, 4, 5]) {
      await bed.clock.pass(25_000);
      expect(await bed.append(storage, batchOf(position))).toBe('committed');
    }
    await bed.clock.pass(25_000);
    expect(await bed.append(storage, batchOf(6))).toBe('uncertain');
    bed.cluster.revive(bed.cluster.pdAddresses[0]!);
    expect(await bed.append(storage, batchOf(6))).toBe('committed');
    expect(await bed.read(storage)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  // The files of a certificate are renewed one after the other, and a store may come back meanwhile.
  test.each([
    ['the own certificate cannot be used', new TikvError('tls-failed', 'key values mismatch')],
    ['the certificate of a store is refused', new TransportError(GrpcCode.UNAVAILABLE, 'expired', { tls: true })],
  ])('waits while %s', async (_, refusal) => {
    let refused = false;
    const { transport } = bed.cluster;
    const connect: Transport['connect'] = (address, secure) => {
      if (refused) throw refusal;
      return transport.connect(address, secure);
    };
    vi.spyOn(bed.cluster, 'transport', 'get').mockReturnValue({ connect });
    const storage = await bed.openSealed();
    expect(await bed.append(storage, batchOf(1))).toBe('committed');
    refused = true;
    for (const store of [1, 2, 3]) bed.cluster.breakStreams(bed.cluster.addressOf(store));
    expect(await bed.append(storage, batchOf(2))).toBe('uncertain');
    await expect(bed.run(storage.log.heldBy(first, never))).rejects.toThrow(StorageUnavailableError);
    await expect(bed.run(storage.log.seal(second))).rejects.toThrow(StorageUnavailableError);
    refused = false;
    expect(await bed.append(storage, batchOf(2))).toBe('committed');
    expect(await bed.read(storage)).toEqual([1, 2]);
  });

  test('is read by a node without a disk while PD is gone', async () => {
    const writer = await bed.openSealed();
    for (const position of [1, 2, 3]) await bed.append(writer, batchOf(position));
    const storage = await bed.open({ local: { kind: 'memory', bytesMax: 1 } });
    bed.cluster.kill(bed.cluster.pdAddresses[0]!);
    for (let seconds = 0; seconds < 50; seconds += 10) {
      const [one, two] = await bed.run(storage.values.getMany([at(3), at(1)], never));
      expect([one, two].map((bytes) => Buffer.from(bytes!).readUInt32LE())).toEqual([3, 1]);
      await bed.clock.pass(4_000);
    }
  });

  test('commits in the order of the log, also where a try took a timestamp of its own', async () => {
    const storage = await bed.openSealed();
    for (let position = 1; position < 8; position += 1) {
      if (position % 3 === 0) bed.next('Prewrite', bed.keys.slot(2, position), { kind: 'silence', executed: false });
      while ((await bed.append(storage, batchOf(position))) !== 'committed') await bed.clock.pass(1);
    }
    const commits = [1, 2, 3, 4, 5, 6, 7].map(
      (position) => bed.cluster.mvcc.row(bed.keys.slot(2, position)).writes[0]!,
    );
    const times = commits.map(({ commitTs }) => commitTs);
    expect(times).toEqual(times.toSorted((left, right) => (left < right ? -1 : 1)));
  });
});

describe('an answer that stays away', () => {
  test.each([
    { fault: { kind: 'lose' }, why: 'the connection broke behind it' },
    { fault: { kind: 'silence', executed: true }, why: 'it was executed' },
    { fault: { kind: 'silence', executed: false }, why: 'it was not' },
    { fault: { kind: 'delay', ms: 2_500 }, why: 'it is executed between the tries' },
    { fault: { kind: 'delay', ms: 60_000 }, why: 'it is executed long after' },
  ] as const)('$fault.kind: the same batch again is committed once, $why', async ({ fault }) => {
    const storage = await bed.openSealed(first, { appendTimeoutMs: 900 });
    await bed.append(storage, batchOf(1, 2));
    bed.next('Prewrite', bed.keys.slot(2, 3), fault);
    const kinds: string[] = [];
    while (kinds.at(-1) !== 'committed') {
      kinds.push(await bed.append(storage, batchOf(3, 4)));
      await bed.clock.pass(500);
    }
    if (fault.kind !== 'lose') expect(kinds[0]).toBe('uncertain');
    expect(await bed.append(storage, batchOf(5))).toBe('committed');
    await bed.clock.pass(100_000);
    expect(await bed.read(storage)).toEqual([1, 2, 3, 4, 5]);
    expect(bed.cluster.mvcc.locks()).toEqual([]);
  });

  test.each([
    { records: [record(9)], why: 'fewer records' },
    { records: [record(3), record(9)], why: 'other bytes' },
  ])('another batch in its place is an assertion: $why', async ({ records }) => {
    const storage = await bed.openSealed(first, { appendTimeoutMs: 900 });
    bed.next('Prewrite', bed.keys.slot(2, 1), { kind: 'silence', executed: false });
    expect(await bed.append(storage, batchOf(1, 2))).toBe('uncertain');
    await expect(bed.run(storage.log.append({ first: at(1), records }, first))).rejects.toThrow(AssertionError);
    expect(await bed.append(storage, batchOf(1, 2))).toBe('committed');
    expect(await bed.read(storage)).toEqual([1, 2]);
  });

  test('a seal settles it: what arrives later is refused', async () => {
    const storage = await bed.openSealed(first, { appendTimeoutMs: 900 });
    await bed.append(storage, batchOf(1));
    bed.next('Prewrite', bed.keys.slot(2, 2), { kind: 'delay', ms: 5_000 });
    expect(await bed.append(storage, batchOf(2))).toBe('uncertain');
    const other = await bed.open();
    expect(await bed.run(other.log.seal(second))).toBe(2);
    await bed.clock.pass(10_000);
    expect(await bed.read(other)).toEqual([1]);
    expect(await bed.append(storage, batchOf(2))).toBe('fenced');
    expect(await bed.append(other, { first: at(2), records: [record(20)] }, second)).toBe('committed');
    expect(await bed.read(other)).toEqual([1, 20]);
  });

  test("its own seal, repeated, settles it as well: the late one's segment has ended", async () => {
    const storage = await bed.openSealed(first, { appendTimeoutMs: 900 });
    bed.next('Prewrite', bed.keys.slot(2, 1), { kind: 'delay', ms: 5_000 });
    expect(await bed.append(storage, batchOf(1))).toBe('uncertain');
    expect(await bed.run(storage.log.seal(first))).toBe(1);
    await bed.clock.pass(10_000);
    expect(await bed.read(storage)).toEqual([]);
    expect(await bed.append(storage, { first: at(1), records: [record(10)] })).toBe('committed');
    expect(await bed.read(storage)).toEqual([10]);
  });

  test('to a seal: the next try finds it', async () => {
    const storage = await bed.open();
    bed.next('Prewrite', bed.keys.seal(1), { kind: 'lose' });
    expect(await bed.run(storage.log.seal(first))).toBe(1);
    expect(await bed.append(storage, batchOf(1))).toBe('committed');
    expect(bed.cluster.mvcc.row(bed.keys.seal(2)).writes).toEqual([]);
  });

  test('to a seal that was given up: the holder goes on behind it, and is not deposed by itself', async () => {
    const storage = await bed.openSealed(first, { appendTimeoutMs: 900, sealTimeoutMs: 1_500 });
    bed.next('Prewrite', bed.keys.slot(2, 1), { kind: 'silence', executed: false });
    expect(await bed.append(storage, batchOf(1))).toBe('uncertain');
    let gone = false;
    const remove = bed.cluster.script(({ command }) => {
      if (gone) return { kind: 'refuse' };
      gone = command === 'Prewrite';
      return gone ? { kind: 'silence', executed: true } : undefined;
    });
    await expect(bed.run(storage.log.seal(first))).rejects.toThrow(StorageUnavailableError);
    remove();
    expect(bed.cluster.mvcc.row(bed.keys.seal(2)).writes).toHaveLength(1);
    expect(await bed.append(storage, batchOf(1))).toBe('committed');
    expect(await bed.append(storage, batchOf(2))).toBe('committed');
    expect(await bed.read(storage)).toEqual([1, 2]);
  });

  test('to the end of a segment: the holder goes on behind it, and is not deposed by itself', async () => {
    const storage = await bed.openSealed(first, { appendTimeoutMs: 900, segmentBytes: 100 });
    await bed.append(storage, batchOf(1));
    bed.next('Prewrite', bed.keys.seal(2), { kind: 'silence', executed: true });
    expect(await bed.append(storage, batchOf(2))).toBe('uncertain');
    expect(await bed.append(storage, batchOf(2))).toBe('committed');
    expect(await bed.read(storage)).toEqual([1, 2]);
  });
});

describe('a seal', () => {
  test('gives what was appended while it was on its way', async () => {
    const leader = await bed.openSealed();
    await bed.append(leader, batchOf(1, 2));
    const other = await bed.open();
    bed.next('Prewrite', bed.keys.seal(2), { kind: 'delay', ms: 500 });
    const sealing = other.log.seal(second);
    await bed.clock.pass(100);
    expect(await bed.append(leader, batchOf(3, 5))).toBe('committed');
    expect(await bed.run(sealing)).toBe(6);
    expect(await bed.read(other)).toEqual([1, 2, 3, 4, 5]);
    expect(await bed.append(leader, batchOf(6))).toBe('fenced');
  });

  test('is refused where another holder has the epoch, also when both seal at a time', async () => {
    const nodes = [await bed.open(), await bed.open(), await bed.open()];
    const seals = [sealOf(3, 1n), sealOf(3, 2n), sealOf(3, 3n)];
    const sealed = await bed.run(Promise.allSettled(nodes.map((node, index) => node.log.seal(seals[index]!))));
    expect(sealed.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const [index, { status }] of sealed.entries()) {
      const kind = await bed.append(nodes[index]!, batchOf(1), seals[index]!);
      expect(kind).toBe(status === 'fulfilled' ? 'committed' : 'fenced');
      if (status === 'rejected')
        await expect(bed.run(nodes[index]!.log.seal(seals[index]!))).rejects.toThrow(StorageFencedError);
    }
  });

  test('of one holder by two processes leaves the log to the later one', async () => {
    const [one, two] = [await bed.openSealed(), await bed.open()];
    await bed.append(one, batchOf(1));
    expect(await bed.run(two.log.seal(first))).toBe(2);
    expect(await bed.append(one, batchOf(2))).toBe('fenced');
    expect(await bed.append(two, batchOf(2))).toBe('committed');
    expect(await bed.read(two)).toEqual([1, 2]);
  });

  test('that holds is repeated without a request that writes', async () => {
    const storage = await bed.openSealed();
    await bed.append(storage, batchOf(1));
    const before = bed.cluster.sent('Prewrite').length;
    expect(await bed.run(storage.log.seal(first))).toBe(2);
    expect(bed.cluster.sent('Prewrite')).toHaveLength(before);
  });

  test('rejects with StorageUnavailableError while the stores are gone, and may be tried again', async () => {
    const storage = await bed.open({ readTimeoutMs: 2_000 });
    for (const id of bed.cluster.stores.keys()) bed.cluster.kill(bed.cluster.addressOf(id));
    await expect(bed.run(storage.log.seal(first))).rejects.toThrow(StorageUnavailableError);
    for (const id of bed.cluster.stores.keys()) bed.cluster.revive(bed.cluster.addressOf(id));
    expect(await bed.run(storage.log.seal(first))).toBe(1);
  });
});

test('who was deposed without knowing reads what the next holder has appended', async () => {
  const [one, two] = [await bed.openSealed(), await bed.open()];
  await bed.append(one, batchOf(1, 2));
  await bed.run(two.log.seal(second));
  for (const position of [3, 4]) await bed.append(two, batchOf(position), second);
  expect(await bed.read(one)).toEqual([1, 2, 3, 4]);
  expect(await bed.read(one, 4)).toEqual([4]);
});

test('the largest value under the longest prefix is one request', async () => {
  const storage = await bed.open({ prefix: 'p'.repeat(256) });
  await bed.run(storage.log.seal(first));
  const before = bed.cluster.sent('Prewrite').length;
  await bed.append(storage, { first: at(1), records: [new Uint8Array((4 << 20) - 4096 - 108)] });
  expect(bed.cluster.sent('Prewrite').length - before).toBe(1);
  await bed.append(storage, { first: at(2), records: [new Uint8Array((4 << 20) - 4096 - 107)] });
  expect(bed.cluster.sent('Prewrite').length - before).toBe(3);
});

describe('regions', () => {
  test('begin where segments will, ahead of time', async () => {
    const storage = await bed.openSealed(first, { segmentBytes: 300 });
    for (let position = 1; position < 20; position += 1) await bed.append(storage, batchOf(position));
    await bed.clock.pass(100);
    const starts = bed.cluster.regions.all().map(({ start }) => Buffer.from(start).toString('hex'));
    const begins = [3, 4, 5, 6].map((segment) =>
      starts.includes(Buffer.from(bed.keys.segmentStart(segment)).toString('hex')),
    );
    expect(begins).toEqual([true, false, true, false]);
  });

  test('do not begin where a segment ends early, by a takeover', async () => {
    for (let number = 1; number < 20; number += 1) {
      const storage = await bed.openSealed(sealOf(number, BigInt(number)));
      await bed.append(storage, batchOf(number), sealOf(number, BigInt(number)));
    }
    await bed.clock.pass(100);
    expect(bed.cluster.regions.all()).toHaveLength(1);
  });

  test('that divide a segment end it', async () => {
    const storage = await bed.openSealed();
    await bed.append(storage, batchOf(1, 2));
    bed.cluster.regions.split(bed.keys.slot(2, 100));
    expect(await bed.append(storage, batchOf(3, 4))).toBe('committed');
    expect(bed.cluster.mvcc.row(bed.keys.slot(3, 3)).writes).toHaveLength(1);
    expect(await bed.append(storage, batchOf(5))).toBe('committed');
    expect(await bed.read(storage)).toEqual([1, 2, 3, 4, 5]);
    expect(await bed.read(await bed.open(), 3)).toEqual([3, 4, 5]);
  });

  test('that divide it while an answer stays away: the batch is there once', async () => {
    for (const executed of [true, false]) {
      const each = new SimBed();
      const storage = await each.openSealed(first, { appendTimeoutMs: 900 });
      each.next('Prewrite', each.keys.slot(2, 1), { kind: 'silence', executed });
      expect(await each.append(storage, batchOf(1, 2))).toBe('uncertain');
      each.cluster.regions.split(each.keys.slot(2, 100));
      expect(await each.append(storage, batchOf(1, 2))).toBe('committed');
      expect(await each.append(storage, batchOf(3))).toBe('committed');
      expect(await each.read(storage), `executed: ${executed}`).toEqual([1, 2, 3]);
    }
  });

  test('a store that declines one phase is asked again, and nothing is left locked', async () => {
    const storage = await bed.openSealed();
    bed.cluster.mvcc.declinesOnePhase = true;
    bed.clock.after(150, () => (bed.cluster.mvcc.declinesOnePhase = false));
    let kind = '';
    while (kind !== 'committed') {
      kind = await bed.append(storage, batchOf(1));
      await bed.clock.pass(20);
    }
    expect(bed.cluster.sent('Commit')).toEqual([]);
    expect(bed.cluster.mvcc.locks()).toEqual([]);
    expect(await bed.read(storage)).toEqual([1]);
  });
});

describe('a batch of several values', () => {
  const small = { partBytesMax: 200, appendTimeoutMs: 900 };

  test('that its writer did not finish is none, and the next holder goes on in its place', async () => {
    const leader = await bed.openSealed(first, small);
    await bed.append(leader, batchOf(1));
    bed.next('Prewrite', bed.keys.slot(2, 2, 2), { kind: 'silence', executed: false });
    expect(await bed.append(leader, batchOf(2, 4, 150))).toBe('uncertain');
    expect(bed.cluster.mvcc.row(bed.keys.slot(2, 2, 1)).writes).toHaveLength(1);
    const other = await bed.open(small);
    expect(await bed.read(other)).toEqual([1]);
    expect(await bed.run(other.log.seal(second))).toBe(2);
    expect(await bed.read(other)).toEqual([1]);
    const instead = { first: at(2), records: [record(20, 300), record(30, 300)] };
    expect(await bed.append(other, instead, second)).toBe('committed');
    expect(await bed.append(leader, batchOf(2, 4, 150))).toBe('fenced');
    for (const node of [other, await bed.open()]) {
      expect(await bed.read(node)).toEqual([1, 20, 30]);
      expect(await bed.read(node, 3)).toEqual([30]);
      const records = await bed.run(node.values.getMany([at(2), at(3)], never));
      expect(records.map((bytes) => bytes.length)).toEqual([300, 300]);
    }
  });

  test('goes on with the part whose answer stayed away', async () => {
    const storage = await bed.openSealed(first, small);
    bed.next('Prewrite', bed.keys.slot(2, 1, 2), { kind: 'silence', executed: true });
    expect(await bed.append(storage, batchOf(1, 6, 150))).toBe('uncertain');
    const before = bed.cluster.sent('Prewrite').length;
    expect(await bed.append(storage, batchOf(1, 6, 150))).toBe('committed');
    const parts = Math.ceil((6 * 154) / 96);
    expect(bed.cluster.sent('Prewrite').length - before).toBe(parts - 2);
    expect(await bed.read(storage)).toEqual([1, 2, 3, 4, 5, 6]);
  });
});

describe('damage', () => {
  /** Changes a value in the store directly, without a writer. */
  function overwrite(key: Uint8Array, change: (value: Uint8Array) => Uint8Array): void {
    const { writes } = bed.cluster.mvcc.row(key);
    const write = writes[0]!;
    writes.splice(0, 1, { ...write, value: change(write.value.slice()) });
  }
  const flip = (place: number) => (value: Uint8Array) => {
    value[place < 0 ? value.length + place : place]! ^= 0x10;
    return value;
  };

  test('of any byte of a value is noticed by reads and gets', async () => {
    const writer = await bed.openSealed();
    await bed.append(writer, batchOf(1, 3));
    await bed.append(writer, batchOf(4, 6));
    const { length } = bed.cluster.mvcc.row(bed.keys.slot(2, 1)).writes[0]!.value;
    const storage = await bed.open({ local: { kind: 'memory', bytesMax: 1 } });
    for (let place = 0; place < length; place += 1) {
      overwrite(bed.keys.slot(2, 1), flip(place));
      await expect(bed.read(storage), `byte ${place}`).rejects.toThrow(StorageCorruptError);
      await expect(bed.run(storage.values.getMany([at(2)], never)), `byte ${place}`).rejects.toThrow(
        StorageCorruptError,
      );
      overwrite(bed.keys.slot(2, 1), flip(place));
    }
    expect(await bed.read(storage)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test('a value that is whole and not what the chain says is damage', async () => {
    const writer = await bed.openSealed();
    await bed.append(writer, batchOf(1, 3));
    overwrite(bed.keys.slot(2, 1), (value) => {
      value[value.length - 1]! ^= 1;
      new DataView(value.buffer, value.byteOffset).setUint32(8, crcOf(value), true);
      return value;
    });
    const storage = await bed.open({ local: { kind: 'memory', bytesMax: 1 } });
    await expect(bed.read(storage)).rejects.toThrow(/the batch at 1 in segment 2 is damaged/);
    await expect(bed.run(storage.values.getMany([at(2)], never))).rejects.toThrow(StorageCorruptError);
  });

  test('a batch that is missing is named', async () => {
    const writer = await bed.openSealed();
    for (const position of [1, 2, 3]) await bed.append(writer, batchOf(position));
    bed.cluster.mvcc.row(bed.keys.slot(2, 2)).writes.splice(0);
    const storage = await bed.open({ local: { kind: 'memory', bytesMax: 1 } });
    await expect(bed.read(storage)).rejects.toThrow(/record 2 is missing/);
    await expect(bed.run(storage.values.getMany([at(2)], never))).rejects.toThrow(/record 2 is missing/);
    expect(await bed.read(storage, 3)).toEqual([3]);
  });

  test('a batch of another log in its place does not continue this one', async () => {
    const writer = await bed.openSealed();
    for (const position of [1, 2, 3]) await bed.append(writer, batchOf(position));
    const another = new SimBed();
    const other = await another.openSealed();
    for (const value of [7, 2, 3]) {
      await another.append(other, { first: at(value === 7 ? 1 : value), records: [record(value)] });
    }
    const foreign = another.cluster.mvcc.row(bed.keys.slot(2, 2)).writes[0]!.value;
    overwrite(bed.keys.slot(2, 2), () => foreign);
    await expect(bed.read(await bed.open())).rejects.toThrow(/does not continue/);
  });

  test('a seal that is damaged is noticed', async () => {
    const writer = await bed.openSealed();
    await bed.append(writer, batchOf(1));
    overwrite(bed.keys.seal(1), flip(-1));
    await expect(bed.open()).rejects.toThrow(StorageCorruptError);
  });
});

test.each([1, 2])(
  'a snapshot that shows a batch and not the one before it is no damage, read from %i',
  async (from) => {
    const writer = await bed.openSealed(first, { segmentBytes: 100 });
    for (const position of [1, 2, 3]) await bed.append(writer, batchOf(position));
    const storage = await bed.open();
    const { writes } = bed.cluster.mvcc.row(bed.keys.slot(3, 2));
    // As if the batch at 2 was committed just behind the first timestamp of the read, and the next batch before it.
    let versions = 0;
    const remove = bed.cluster.script(({ request }) => {
      const version = versionOf(request);
      if (version === undefined) return undefined;
      versions += 1;
      writes.splice(0, 1, { ...writes[0]!, commitTs: version + 1n });
      remove();
      return undefined;
    });
    expect(await bed.read(storage, from)).toEqual([1, 2, 3].slice(from - 1));
    expect(versions).toBe(1);
  },
);

function versionOf(request: unknown): bigint | undefined {
  if (typeof request !== 'object' || request === null || !('version' in request)) return undefined;
  return typeof request.version === 'bigint' ? request.version : undefined;
}
