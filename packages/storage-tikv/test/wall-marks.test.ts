import { assert } from '@engram/core';
import { finish, unhurried } from '@engram/loop';
import { SimClock } from '@engram/sim';
import type { Storage } from '@engram/storage';
import { never, sealOf } from '@engram/storage/testing';
import { inspectStorage } from '@engram/storage-tikv';
import { physicalMs } from '@engram/tso';
import { describe, expect, test } from 'vitest';
import { decodeBatch, decodePart, encodingBatch } from '../src/format/batch-format.ts';
import { emptyChain } from '../src/format/chain.ts';
import { crcOf } from '../src/format/value-crc.ts';
import { ImageBed } from './image-bed.ts';
import { at, batchOf, first, SimBed } from './sim-bed.ts';

const second = sealOf(2, 9n);
const third = sealOf(3, 8n);

/** The mark of each batch of the log, as its readers get it; undefined: it has none. */
async function marksOf(bed: SimBed, storage: Storage, from = 1): Promise<(number | undefined)[]> {
  const reading = async (): Promise<(number | undefined)[]> => {
    const marks: (number | undefined)[] = [];
    for await (const { wallMs } of storage.log.read(at(from), never)) marks.push(wallMs);
    return marks;
  };
  return await bed.run(reading());
}

async function timeOfPd(bed: SimBed): Promise<number> {
  const client = await bed.client();
  return physicalMs(await bed.run(client.timestamp()));
}

function expectNeverBack(marks: readonly (number | undefined)[]): void {
  for (const [index, mark] of marks.entries()) {
    assert(mark !== undefined, `the batch ${index} has no mark`);
    expect(mark, `the batch ${index}`).toBeGreaterThanOrEqual(marks[index - 1] ?? 1);
  }
}

/** The value as the program before this one wrote it: its header ends before the mark. */
function withoutMark(value: Uint8Array): Uint8Array {
  const old = new Uint8Array(value.length - 8);
  old.set(value.subarray(0, 96));
  old.set(value.subarray(104), 96);
  const view = new DataView(old.buffer);
  view.setUint16(6, 96, true);
  view.setUint32(8, crcOf(old), true);
  return old;
}

describe('the mark of a batch', () => {
  test('is the time of PD when the leader appends it, whatever the clock of its machine shows', async () => {
    const bed = new SimBed();
    const clock = new SimClock({ scheduler: bed.scheduler, wallMs: 5, originMs: 77_777.25 });
    const storage = await bed.openSealed(first, { clock });
    for (let position = 1; position <= 5; position += 1) {
      const before = await timeOfPd(bed);
      expect(await bed.append(storage, batchOf(position))).toBe('committed');
      const after = await timeOfPd(bed);
      const mark = (await marksOf(bed, storage)).at(-1)!;
      // A timestamp is older than its answer by what that took on its way.
      expect(mark).toBeGreaterThanOrEqual(before - 50);
      expect(mark).toBeLessThanOrEqual(after + 50);
      await bed.clock.pass(20_000);
    }
  });

  test('never goes back: not where the clock of a leader is too fast, and not under the next leader', async () => {
    const bed = new SimBed();
    const fast = new SimClock({ scheduler: bed.scheduler, rate: 3 });
    const leader = await bed.openSealed(first, { clock: fast });
    await bed.append(leader, batchOf(1));
    for (let position = 2; position <= 8; position += 1) {
      await bed.clock.pass(9_000);
      await bed.append(leader, batchOf(position));
    }
    const ahead = (await marksOf(bed, leader)).at(-1)!;
    expect(ahead, 'ahead of PD').toBeGreaterThan((await timeOfPd(bed)) + 10);
    const successor = await bed.openSealed(second);
    await bed.append(successor, batchOf(9), second);
    expect((await marksOf(bed, successor)).at(-1)).toBe(ahead);
    await bed.clock.pass(120_000);
    await bed.append(successor, batchOf(10), second);
    const marks = await marksOf(bed, successor);
    expect(marks).toHaveLength(10);
    expectNeverBack(marks);
    expect(marks.at(-1)).toBeGreaterThan(ahead);
  });

  test('begins with the birth of the epoch: a leader that led before does not go on with what it knew then', async () => {
    const bed = new SimBed();
    const fast = new SimClock({ scheduler: bed.scheduler, rate: 3 });
    const leader = await bed.openSealed(first, { clock: fast });
    await bed.append(leader, batchOf(1));
    await bed.openSealed(second);
    await bed.clock.pass(9_000);
    // At once, before new timestamps have come.
    await bed.run(leader.log.seal(third).then(() => leader.log.append(batchOf(2), third)));
    expect((await marksOf(bed, leader)).at(-1)).toBeLessThan((await timeOfPd(bed)) + 1_000);
  });

  test('never goes back behind a trim: the last batch of the log stays, to tell it', async () => {
    const bed = new ImageBed();
    const fast = new SimClock({ scheduler: bed.scheduler, rate: 3 });
    const leader = await bed.openSealed(first, { clock: fast, segmentBytes: 300, member: 1n });
    await bed.fill(leader, 1, 13, first);
    await bed.clock.pass(8_000);
    await bed.fill(leader, 13, 17, first);
    const ahead = (await marksOf(bed, leader)).at(-1)!;
    expect(ahead).toBeGreaterThan((await timeOfPd(bed)) + 1_000);
    // A leader that appends nothing, and deletes all of the log that may be deleted.
    const successor = await bed.openSealed(second, { member: 2n });
    expect(await bed.save(successor, 17)).toBe('published');
    await bed.run(leader.image.need(at(17), never));
    await bed.run(successor.image.need(at(17), never));
    await bed.run(successor.image.trim(never));
    await expect(marksOf(bed, successor), 'the log was trimmed').rejects.toThrow('trimmed');
    const last = await bed.openSealed(third);
    await bed.append(last, batchOf(17), third);
    expect(await marksOf(bed, last, 17)).toEqual([ahead]);
  });

  test('of an append without an answer is that of its first attempt: the same bytes are sent again', async () => {
    const bed = new SimBed();
    const storage = await bed.openSealed(first, { partBytesMax: 200, appendTimeoutMs: 900 });
    bed.next('Prewrite', bed.keys.slot(2, at(1), 1), { kind: 'silence', executed: true });
    const long = batchOf(1, 40);
    expect(await bed.append(storage, long)).toBe('uncertain');
    await bed.clock.pass(60_000);
    const before = await timeOfPd(bed);
    expect(await bed.append(storage, long)).toBe('committed');
    const marks = await marksOf(bed, storage);
    expect(marks).toHaveLength(1);
    expect(marks[0]).toBeLessThan(before - 50_000);
  });

  test('stays also where the batch is written, and only whether its segment was trimmed is not known', async () => {
    const bed = new SimBed();
    const storage = await bed.openSealed(first, { silentMaxMs: 1_000 });
    await bed.clock.pass(60_000); // long enough that a trim need not have waited
    const answer = bed.cluster.script(({ command }) =>
      command === 'Get' ? { kind: 'silence', executed: false } : undefined,
    );
    expect(await bed.append(storage, batchOf(1))).toBe('uncertain');
    answer();
    await bed.clock.pass(60_000);
    const before = await timeOfPd(bed);
    expect(await bed.append(storage, batchOf(1))).toBe('committed');
    const marks = await marksOf(bed, storage);
    expect(marks).toHaveLength(1);
    expect(marks[0]).toBeLessThan(before - 50_000);
    expect(await bed.append(storage, batchOf(2))).toBe('committed');
  });

  test('is shown by the inspection', async () => {
    const bed = new SimBed();
    const storage = await bed.openSealed();
    const client = await bed.client();
    const look = () => bed.run(inspectStorage({ client, prefix: 'test', signal: never, timeoutMs: 5_000 }));
    expect((await look()).log).toMatchObject({ wallMs: undefined, time: undefined });
    await bed.append(storage, batchOf(1));
    const [mark] = await marksOf(bed, storage);
    expect((await look()).log).toMatchObject({ wallMs: mark, time: new Date(mark!).toISOString() });
  });
});

describe('beside programs that wrote no marks', () => {
  const place = { segment: 2, seal: first, logBytesBefore: 0, previous: emptyChain(7n), wallMs: 1_700_000_000_123 };
  const encoded = () => finish(encodingBatch(batchOf(1, 30), place, 200, unhurried));

  test('a batch without a mark is read, and has none', () => {
    const parts = encoded().values.map((value) => decodePart(withoutMark(value))!);
    expect(parts.length).toBeGreaterThan(1);
    const batch = decodeBatch(parts, true)!;
    expect(batch.records).toEqual(batchOf(1, 30).records);
    expect(batch.header).toMatchObject({ first: 1, count: 30, wallMs: 0, chain: encoded().chain });
    expect('wallMs' in batch).toBe(false);
  });

  test('a batch with a mark is what they read: the fields are where they were, and the header says where it ends', () => {
    for (const value of encoded().values) {
      const view = new DataView(value.buffer, value.byteOffset, value.byteLength);
      expect(view.getUint16(4, true), 'the format').toBe(1);
      expect(view.getUint16(6, true), 'the bytes of the header').toBeGreaterThanOrEqual(96);
      const old = withoutMark(value);
      expect(value.subarray(12, 96)).toEqual(old.subarray(12, 96));
      expect(value.subarray(view.getUint16(6, true))).toEqual(old.subarray(96));
    }
  });

  test('the log goes on under a leader that writes none, and marks go on under the next', async () => {
    const bed = new SimBed();
    const newer = await bed.openSealed();
    await bed.append(newer, batchOf(1));
    await bed.clock.pass(1_000);
    // The leader in between is of the program before: what it wrote is put without its marks.
    const older = await bed.openSealed(second);
    await bed.append(older, batchOf(2), second);
    await bed.append(older, batchOf(3, 4), second);
    await bed.clock.pass(1_000);
    const client = await bed.client();
    for (const [segment, position] of [
      [3, 2],
      [3, 3],
    ] as const) {
      const key = bed.keys.slot(segment, at(position), 0);
      const value = (await bed.run(client.get(key)))!;
      const txn = await bed.run(client.begin());
      txn.put(key, withoutMark(value));
      await bed.run(txn.commit());
    }
    const last = await bed.openSealed(third);
    await bed.append(last, batchOf(5), third);
    expect(await bed.read(last)).toEqual([1, 2, 3, 4, 5]);
    const marks = await marksOf(bed, last);
    expect(marks.map((mark) => mark !== undefined)).toEqual([true, false, false, true]);
    expect(marks[3]).toBeGreaterThanOrEqual(marks[0]! + 2_000);
  });
});
