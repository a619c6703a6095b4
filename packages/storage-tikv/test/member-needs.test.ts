import { never } from '@engram/storage/testing';
import { StorageTrimmedError } from '@engram/storage';
import type { TikvStorage } from '@engram/storage-tikv';
import { describe, expect, test } from 'vitest';
import { ImageBed } from './image-bed.ts';
import { at, batchOf, first } from './sim-bed.ts';
import { TikvBed } from './tikv-bed.ts';

const small = { segmentBytes: 300, partBytesMax: 200 };
const MINUTE_MS = 60_000;

/** A leader whose log has 80 records and an image of all. It may be silent for ten minutes, and hold the log for thirty. */
async function withImage() {
  const bed = new ImageBed();
  const leader = await bed.openSealed(first, { ...small, member: 1n });
  await bed.fill(leader, 1, 81, first);
  expect(await bed.save(leader, 81)).toBe('published');
  const trim = async () => {
    await bed.run(leader.image.need(at(81), never));
    return await bed.run(leader.image.trim(never));
  };
  return { bed, leader, trim };
}

const needOf = (bed: ImageBed, leader: TikvStorage) => bed.run(leader.image.lowestNeed(at(81), never));

test('a member that starts again and again does not hold the log for ever', async () => {
  const { bed, leader, trim } = await withImage();
  // It needs an early part of the log, and ends before it has applied any of it.
  const member = await bed.open({ ...small, member: 2n });
  await bed.run(member.image.need(at(10), never));
  let trimmedAfterMs: number | undefined;
  const needs = new Set<number | undefined>();
  for (const startMs = bed.clock.nowMs(); trimmedAfterMs === undefined; bed.clock.advance(5 * MINUTE_MS)) {
    expect(bed.clock.nowMs() - startMs).toBeLessThan(60 * MINUTE_MS);
    const again = await bed.open({ ...small, member: 2n });
    await bed.run(again.image.need(at(10), never));
    if ((await trim())?.needed === 81) trimmedAfterMs = bed.clock.nowMs() - startMs;
    needs.add(await needOf(bed, leader));
    if (trimmedAfterMs === undefined) {
      expect(leader.image.holders).toMatchObject([{ member: 2n, from: 10, leftBehind: false }]);
    }
  }
  expect(trimmedAfterMs).toBe(35 * MINUTE_MS);
  expect([...needs]).toEqual([10, 81]);
  expect(leader.image.holders).toMatchObject([{ member: 2n, leftBehind: true, heldMs: 35 * MINUTE_MS }]);
  await expect(bed.read(member, 10)).rejects.toThrow(StorageTrimmedError);
});

test.each([0, 1])('a member that lives and advances by %i in ten minutes does not either', async (step) => {
  const { bed, leader, trim } = await withImage();
  const member = await bed.open({ ...small, member: 2n });
  let from = 10;
  for (let minutes = 0; minutes <= 30; minutes += 10) {
    await bed.run(member.image.need(at(from), never));
    expect((await trim())?.needed ?? from, `after ${minutes} minutes`).toBe(from);
    expect(await needOf(bed, leader)).toBe(from);
    from += step;
    bed.clock.advance(10 * MINUTE_MS);
  }
  await bed.run(member.image.need(at(from), never));
  expect((await trim())?.needed).toBe(81);
  expect(await needOf(bed, leader)).toBe(81);
});

test('a member that was left behind counts again when it has come up', async () => {
  const { bed, leader, trim } = await withImage();
  const member = await bed.open({ ...small, member: 2n });
  const say = (from: number) => bed.run(member.image.need(at(from), never));
  for (let minutes = 0; minutes < 40; minutes += 8) {
    await say(10);
    await trim();
    bed.clock.advance(8 * MINUTE_MS);
  }
  await say(40);
  expect(await needOf(bed, leader)).toBe(81);
  expect(leader.image.holders?.[0]?.leftBehind).toBe(true);
  await say(81);
  expect(await needOf(bed, leader)).toBe(81);
  expect(leader.image.holders).toEqual([]);
  await say(80);
  expect(await needOf(bed, leader)).toBe(80);
  expect(leader.image.holders).toMatchObject([{ from: 80, leftBehind: false }]);
});

describe('of two processes of one member', () => {
  const member2 = { ...small, member: 2n };
  const say = (bed: ImageBed, node: TikvStorage, from: number) => bed.run(node.image.need(at(from), never));
  const keysOf = async (bed: ImageBed) => {
    const keys = await bed.keysOf(await bed.client(), bed.logKeys.needs);
    return keys.map((key) => bed.logKeys.parseNeed(key)!).filter(({ member }) => member === 2n).length;
  };

  test('the one that starts keeps what it has yet to read, although the other one needs less', async () => {
    const { bed, trim } = await withImage();
    const old = await bed.open(member2);
    await say(bed, old, 81);
    const started = await bed.open(member2);
    await say(bed, started, 10);
    await say(bed, old, 81);
    await trim();
    expect((await bed.read(started, 10)).slice(0, 3)).toEqual([10, 11, 12]);
  });

  test('the next one deletes what the one before has reported, once that one has been silent for a minute', async () => {
    const { bed, leader } = await withImage();
    await say(bed, await bed.open(member2), 10);
    const next = await bed.open(member2);
    await say(bed, next, 81);
    await say(bed, leader, 81);
    expect(await needOf(bed, leader)).toBe(10);
    bed.clock.advance(MINUTE_MS);
    await say(bed, next, 81);
    expect(await keysOf(bed)).toBe(1);
    expect(await needOf(bed, leader)).toBe(81);
  });

  test('the next one deletes nothing of one that goes on to report', async () => {
    const { bed, leader } = await withImage();
    const old = await bed.open(member2);
    await say(bed, old, 10);
    const next = await bed.open(member2);
    await say(bed, leader, 81);
    for (let minutes = 0; minutes < 3; minutes += 1) {
      bed.clock.advance(MINUTE_MS);
      await say(bed, old, 10);
      await say(bed, next, 81);
      expect(await needOf(bed, leader)).toBe(10);
    }
    bed.clock.advance(MINUTE_MS);
    await say(bed, next, 81);
    expect(await needOf(bed, leader)).toBe(81);
  });

  test('the one that lives deletes nothing of one that starts', async () => {
    const { bed, leader } = await withImage();
    const old = await bed.open(member2);
    const started = await bed.open(member2);
    await say(bed, started, 10);
    await say(bed, leader, 81);
    bed.clock.advance(5 * MINUTE_MS);
    await say(bed, old, 81);
    expect(await needOf(bed, leader)).toBe(10);
  });

  test('the reports of ended ones do not pile up', async () => {
    const { bed, leader } = await withImage();
    for (let starts = 0; starts < 8; starts += 1) await bed.open(member2);
    expect(await keysOf(bed)).toBe(8);
    await needOf(bed, leader);
    bed.clock.advance(11 * MINUTE_MS);
    await needOf(bed, leader);
    expect(await keysOf(bed)).toBe(8);
    await bed.open(member2);
    await needOf(bed, leader);
    expect(await keysOf(bed)).toBe(1);
  });
});

test('a report under the member alone counts as that of one more process', async () => {
  const { bed, leader } = await withImage();
  const client = await bed.client();
  const value = new Uint8Array(16);
  new DataView(value.buffer).setBigUint64(0, 10n, true);
  const txn = await bed.run(client.begin());
  txn.put(bed.logKeys.need({ member: 2n, process: 0n }), value);
  await bed.run(txn.commitOnePhase());
  const node = await bed.open({ ...small, member: 2n });
  const say = () => bed.run(node.image.need(at(81), never));
  await bed.run(leader.image.need(at(81), never));
  await say();
  expect(await needOf(bed, leader)).toBe(10);
  bed.clock.advance(MINUTE_MS);
  await say();
  expect(await needOf(bed, leader)).toBe(81);
});

test('a start says what it needs, and not that it needs the whole log', async () => {
  const { bed, leader, trim } = await withImage();
  await bed.open({ ...small, member: 2n });
  expect(await needOf(bed, leader)).toBe(1); // as the leader said before there was an image
  expect((await trim())?.needed).toBe(81);
  expect(await needOf(bed, leader)).toBe(81);
});

test('a start with a copy on its disk says what the copy lacks, once the copy is read', async () => {
  await using bed = await TikvBed.make();
  const leader = await bed.open({ local: { kind: 'memory' }, member: 1n });
  await leader.log.seal(first);
  const append = async (from: number, to: number) =>
    expect((await leader.log.append(batchOf(from, to), first)).kind).toBe('committed');
  await append(1, 40);
  const { local } = bed;
  if (local.kind !== 'disk') throw new Error('a bed with a disk');
  const seen: (number | undefined)[] = [];
  const lowest = () => leader.image.lowestNeed(at(1), never);
  const openStorage = async (path: string) => {
    seen.push(await lowest());
    return await local.openStorage(path);
  };
  await leader.image.need(at(1000), never);
  await using before = await bed.open({ member: 2n, local: { ...local, openStorage } });
  for await (const _ of before.log.read(at(1), never));
  await before.image.need(at(41), never);
  await before[Symbol.asyncDispose]();
  await append(41, 80);
  seen.length = 0;
  await using again = await bed.open({ member: 2n, local: { ...local, openStorage } });
  // While the copy was read, what the process before had said was still there.
  expect(seen).toEqual([41]);
  expect(await lowest()).toBe(41);
  for await (const { first: from } of again.log.read(at(41), never)) expect(from).toBe(41);
});
