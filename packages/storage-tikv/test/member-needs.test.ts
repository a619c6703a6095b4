import { never } from '@engram/storage/testing';
import { StorageTrimmedError } from '@engram/storage';
import type { TikvStorage } from '@engram/storage-tikv';
import { expect, test } from 'vitest';
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
