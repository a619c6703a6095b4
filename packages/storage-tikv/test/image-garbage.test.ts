import { Loop, StepPace } from '@engram/loop';
import { never } from '@engram/storage/testing';
import { expect, test } from 'vitest';
import { emptyChain } from '../src/format/chain.ts';
import { collectImageGarbage } from '../src/image/image-garbage.ts';
import { ImageBed } from './image-bed.ts';
import { first } from './sim-bed.ts';

const END = 121;
const SLICE_STEPS = 5;

test('the garbage of images is looked at in slices, and all of it goes', async () => {
  const bed = new ImageBed();
  const node = await bed.openSealed(first, { segmentBytes: 300, partBytesMax: 40 });
  await bed.fill(node, 1, END, first);
  expect(await bed.save(node, END)).toBe('published');
  const client = await bed.client();
  const pieces = (await bed.pieces(client)).length;
  expect(pieces).toBeGreaterThan(10 * SLICE_STEPS);

  const loop = new Loop({ clock: bed.clock, pace: new StepPace(SLICE_STEPS) });
  const source = { client, keys: bed.logKeys, empty: emptyChain(7n), name: 'the log', timeoutMs: 10_000 };
  const round = Number.MAX_SAFE_INTEGER;
  const collecting = collectImageGarbage({ source, loop, round, published: undefined, pages: undefined }, never);
  expect(await bed.run(collecting)).toEqual([]);
  expect(await bed.pieces(client)).toEqual([]);
  // Others have their turn before each of these.
  expect(loop.usage.get('background')!.slices).toBeGreaterThanOrEqual(Math.floor(pieces / SLICE_STEPS));
});
