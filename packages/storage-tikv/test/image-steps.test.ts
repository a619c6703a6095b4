import { never, sealOf } from '@engram/storage/testing';
import type { TikvStorage } from '@engram/storage-tikv';
import type { FakeCall, Fault } from '@engram/tikv-client/testing';
import { describe, expect, test } from 'vitest';
import { ImageBed } from './image-bed.ts';
import { at, first } from './sim-bed.ts';

// Interrupts a round and a trim at each request that they send to a store, in two ways: the node is gone, or it is deposed by
// another node, which writes an image and trims.

const small = { segmentBytes: 300, partBytesMax: 200 };
const END = 81;
const seal = sealOf(2, 9n);

/** A log with a published image, and records behind it. */
async function prepared(): Promise<{ readonly bed: ImageBed; readonly leader: TikvStorage }> {
  const bed = new ImageBed();
  const leader = await bed.openSealed(first, { ...small, member: 1n });
  await bed.fill(leader, 1, 41, first);
  expect(await bed.save(leader, 25)).toBe('published');
  await bed.fill(leader, 41, END, first);
  await bed.run(leader.image.need(at(END), never));
  return { bed, leader };
}

/** The steps that the tests interrupt. */
async function roundAndTrim(leader: TikvStorage, bed: ImageBed, signal: AbortSignal): Promise<void> {
  await bed.save(leader, 61, signal);
  await bed.run(leader.image.trim(signal));
}

const writes = new Set(['Prewrite', 'Commit', 'DeleteRange', 'Get', 'BatchGet', 'Scan']);

/** Lets `act` decide the fate of the `step`-th request. Returns whether that request was sent. */
function atStep(bed: ImageBed, step: number, act: (call: FakeCall) => Fault | undefined): () => boolean {
  let count = 0;
  let reached = false;
  bed.cluster.script((call) => {
    if (!writes.has(call.command)) return undefined;
    count += 1;
    if (count !== step) return undefined;
    reached = true;
    return act(call);
  });
  return () => reached;
}

/** Another node takes over, finds everything, writes an image and trims. Nothing of abandoned rounds is left in the end. */
async function resume(bed: ImageBed): Promise<void> {
  await bed.expectWhole(END, small);
  const other = await bed.openSealed(seal, { ...small, member: 2n });
  await bed.fill(other, END, 101, seal);
  await bed.expectWhole(101, small);
  expect(await bed.save(other, 81)).toBe('published');
  const { from, trimmed } = await bed.run(other.image.status(never));
  expect(from).toBe(81);
  await bed.run(other.image.need(at(101), never));
  // After it has been silent for 10 minutes, the node that is gone no longer delays a trim.
  bed.clock.advance(1);
  await bed.run(other.image.trim(never));
  bed.clock.advance(700_000);
  await bed.run(other.image.need(at(101), never));
  await bed.run(other.image.trim(never));
  expect((await bed.run(other.image.status(never))).trimmed).toBeGreaterThanOrEqual(trimmed);
  await bed.expectWhole(101, small);
  // The pieces left are of the newest image and of the one before, which readers may still read.
  await bed.saveCollecting(other, 101);
  expect((await bed.segments(await bed.client())).length).toBeLessThanOrEqual(6);
  await bed.expectWhole(101, small);
}

async function countSteps(): Promise<number> {
  const { bed, leader } = await prepared();
  let count = 0;
  bed.cluster.script((call) => {
    if (writes.has(call.command)) count += 1;
    return undefined;
  });
  await roundAndTrim(leader, bed, never);
  return count;
}

/** The number of requests of `roundAndTrim`. */
const STEPS = 34;
const steps = Array.from({ length: STEPS }, (_, index) => index + 1);

test('these are all the steps of a round and a trim', async () => {
  expect(await countSteps()).toBe(STEPS);
});

describe.each([true, false])('a node that is gone (its last request is executed: %s)', (executed) => {
  test.each(steps)('at step %i', async (step) => {
    const { bed, leader } = await prepared();
    const gone = new AbortController();
    const reached = atStep(bed, step, () => {
      bed.clock.soon(() => gone.abort(new Error('gone')));
      return { kind: 'silence', executed };
    });
    await expect(roundAndTrim(leader, bed, gone.signal)).rejects.toThrow('gone');
    expect(reached()).toBe(true);
    await resume(bed);
  });
});

describe.each([200, 3000])('a node that is deposed, and goes on after %i ms', (ms) => {
  test.each(steps)('at step %i', async (step) => {
    const { bed, leader } = await prepared();
    let other: Promise<void> | undefined;
    const reached = atStep(bed, step, () => {
      other = goOnBeside(bed);
      return { kind: 'delay', ms };
    });
    await roundAndTrim(leader, bed, never);
    expect(reached()).toBe(true);
    await other;
    await bed.expectWhole(101, small);
    // The deposed node has finished, and the other node's image is still the published one.
    const again = await bed.openSealed(sealOf(3, 9n), small);
    expect((await bed.run(again.image.status(never))).from).toBe(81);
    await bed.saveCollecting(again, 101);
    await bed.expectWhole(101, small);
  });
});

async function goOnBeside(bed: ImageBed): Promise<void> {
  const other = await bed.openSealed(seal, { ...small, member: 2n });
  await bed.fill(other, END, 101, seal);
  expect(await bed.save(other, 81)).toBe('published');
  await bed.run(other.image.need(at(101), never));
  await bed.run(other.image.trim(never));
}
