import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock, Timer } from '@engram/core';
import { realClock } from '@engram/sim';
import { never, sealOf } from '@engram/storage/testing';
import type { TikvStorage } from '@engram/storage-tikv';
import { expect, test } from 'vitest';
import { imageAt, liveBefore } from './image-bed.ts';
import { at, batchOf } from './sim-bed.ts';
import { TikvBed } from './tikv-bed.ts';

const first = sealOf(1);
const small = { segmentBytes: 300, partBytesMax: 200 };
const END = 81;

/** A trimmed log behind an image at 61, whose holder has no disk. */
async function trimmed(): Promise<{ readonly bed: TikvBed; readonly leader: TikvStorage }> {
  const bed = await TikvBed.make({ local: 'disk', ...small });
  const leader = await bed.open({ local: { kind: 'memory' } });
  await leader.log.seal(first);
  for (let from = 1; from < END; from += 4) await leader.log.append(batchOf(from, Math.min(from + 3, END - 1)), first);
  expect(await leader.image.save(at(61), imageAt(61), never)).toBe('published');
  expect((await leader.image.trim(never))!.before).toBeGreaterThan(1);
  return { bed, leader };
}

/** Reads the state and the log, as a start does. */
async function start(bed: TikvBed, clock: Clock = realClock): Promise<TikvStorage> {
  const node = await bed.open({ clock });
  const checkpoint = (await node.values.loadCheckpoint())!;
  for await (const _ of node.log.read(checkpoint.from, never));
  return node;
}

async function until(done: () => boolean): Promise<void> {
  while (!done()) await new Promise((resolve) => setImmediate(resolve));
}

const isWhole = ({ image }: TikvStorage): boolean => image.local!.whole;

/** Reads all live records. Returns the number of requests to TiKV. */
async function readsOf(bed: TikvBed, node: TikvStorage): Promise<number> {
  const reads = (): number =>
    bed.cluster.calls.filter(({ command }) => ['Get', 'BatchGet', 'Scan'].includes(command)).length;
  const before = reads();
  const live = liveBefore(END);
  const found = await node.values.getMany(live, never);
  expect(found.map((bytes) => Buffer.from(bytes).readUInt32LE())).toEqual(live);
  return reads() - before;
}

/** A clock that holds its timers until `release`. */
function heldClock(): { readonly clock: Clock; readonly release: () => void } {
  let held: (() => void)[] | undefined = [];
  const after = (delayMs: number, fire: () => void): Timer => {
    if (held === undefined) return realClock.after(delayMs, fire);
    held.push(fire);
    return { cancel: () => {} };
  };
  const release = (): void => {
    const fires = held ?? [];
    held = undefined;
    for (const fire of fires) fire();
  };
  return { clock: { ...realClock, after }, release };
}

test('a node that began at an image fetches its bytes, asks TiKV for none of them, and has them at the next start', async () => {
  const { bed } = await trimmed();
  await using _ = bed;
  const node = await start(bed);
  const { of } = node.image.local!;
  expect(of).toBe(0);
  expect(await readsOf(bed, node)).toBeGreaterThan(0);
  await node.image.need(at(END), never);
  await until(() => isWhole(node));
  expect(node.image.local!.of).toBeGreaterThan(liveBefore(61).length * 4);
  expect(await readsOf(bed, node)).toBe(0);
  await node[Symbol.asyncDispose]();
  const again = await start(bed);
  expect(isWhole(again)).toBe(true);
  expect(await readsOf(bed, again)).toBe(0);
  expect(bed.logger.warnings).toEqual([]);
});

test('damage in the copy of the image costs time: TiKV is asked, and it is fetched again', async () => {
  const { bed } = await trimmed();
  await using _ = bed;
  const node = await start(bed);
  await node.image.need(at(END), never);
  await until(() => isWhole(node));
  await node[Symbol.asyncDispose]();
  const path = join(bed.path, 'copy', 'image', 'pieces');
  const bytes = await readFile(path);
  bytes[bytes.length - 3]! ^= 1;
  await writeFile(path, bytes);
  const again = await start(bed);
  expect(isWhole(again)).toBe(true);
  expect(await readsOf(bed, again)).toBeGreaterThan(0);
  expect(bed.logger.warnings).toEqual([
    'the copy of the image is damaged: TiKV is asked instead, and it is fetched again',
  ]);
  expect(again.image.local).toMatchObject({ bytes: 0, whole: false });
  await again.image.need(at(END), never);
  await until(() => isWhole(again));
  expect(await readsOf(bed, again)).toBe(0);
});

test('one that was not fetched to its end is nothing at the next start', async () => {
  const { bed } = await trimmed();
  await using _ = bed;
  const { clock } = heldClock();
  const node = await start(bed, clock);
  await node.image.need(at(END), never);
  await until(() => node.image.local!.bytes > 0);
  expect(isWhole(node)).toBe(false);
  expect(await readsOf(bed, node)).toBeGreaterThan(0);
  // The fetch waits for its pace. Closing ends this wait.
  await node[Symbol.asyncDispose]();
  expect(await readdir(join(bed.path, 'copy', 'image'))).toEqual(['pieces']);
  const again = await start(bed);
  expect(again.image.local).toEqual({ bytes: 0, of: 0, whole: false });
  expect(await readsOf(bed, again)).toBeGreaterThan(0);
});

test('where the image is replaced meanwhile, the newest one is fetched', async () => {
  const { bed, leader } = await trimmed();
  await using _ = bed;
  const { clock, release } = heldClock();
  const node = await start(bed, clock);
  await node.image.need(at(END), never);
  await until(() => node.image.local!.bytes > 0);
  for (const from of [77, END]) expect(await leader.image.save(at(from), imageAt(from), never)).toBe('published');
  release();
  await until(() => node.image.local!.bytes === 0 || isWhole(node));
  await node.image.need(at(END), never);
  await until(() => isWhole(node));
  expect(await readsOf(bed, node)).toBe(0);
  expect(bed.logger.warnings).toEqual([]);
});

test('where the copy has the whole log nothing is fetched, and without a disk nothing is said', async () => {
  await using bed = await TikvBed.make({ local: 'disk', ...small });
  const node = await bed.open();
  await node.log.seal(first);
  await node.log.append(batchOf(1, 8), first);
  expect(await node.image.save(at(9), imageAt(9), never)).toBe('published');
  await node.image.need(at(9), never);
  expect(node.image.local).toEqual({ bytes: 0, of: 0, whole: true });
  await node[Symbol.asyncDispose]();
  expect(await readdir(join(bed.path, 'copy'))).not.toContain('image');
  const diskless = await bed.open({ local: { kind: 'memory' } });
  expect(diskless.image.local).toBeUndefined();
});
