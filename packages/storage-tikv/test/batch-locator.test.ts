import { never } from '@engram/storage/testing';
import { expect, test } from 'vitest';
import { emptyChain } from '../src/format/chain.ts';
import { EMPTY_IMAGE_ROOT, encodeImageRoot } from '../src/format/image-root.ts';
import { BatchLocator } from '../src/log/batch-locator.ts';
import { findTail, lookAtTail } from '../src/log/log-tail.ts';
import { at, batchOf, SimBed } from './sim-bed.ts';

test('a snapshot that shows a segment, and not the one before it, does not say where batches begin', async () => {
  const bed = new SimBed();
  const { regions } = bed.cluster;
  // Each append begins a segment, from the second one on. The third segment is in a region of another store.
  const leader = await bed.openSealed(undefined, { segmentBytes: 1 });
  const third = bed.keys.segmentStart(3);
  regions.split(third);
  regions.transferLeader(third, 2);
  const client = await bed.client();
  const source = { client, keys: bed.keys, empty: emptyChain(7n), name: 'log', timeoutMs: 5_000 };
  await bed.run(client.get(third));
  const early = await bed.run(client.snapshot());
  // A later reader raises the commit timestamps of the store that has the second segment.
  await bed.run((await bed.run(client.snapshot())).get(bed.keys.slot(2, at(1))));
  for (const [first, last] of [
    [1, 4],
    [5, 8],
  ] as const)
    expect(await bed.append(leader, batchOf(first, last))).toBe('committed');
  const index = new BatchLocator(source);
  const tail = await bed.run(findTail(source, early, never));
  expect(tail).toMatchObject({ segment: 3, next: 9 });
  expect(await bed.run(index.locate(early, tail, at(2), never))).toBeUndefined();
  const view = await bed.run(lookAtTail(source, never));
  expect(await bed.run(index.firstFrom(view.snapshot, 2, never))).toEqual({ segment: 2, first: 1 });
  expect(await bed.run(index.locate(view.snapshot, view.tail, at(2), never))).toEqual({ segment: 2, first: 1 });
});

test('batches are found behind segments of which an earlier version has deleted the seals', async () => {
  const bed = new SimBed();
  const leader = await bed.openSealed(undefined, { segmentBytes: 1 });
  for (let from = 1; from < 41; from += 4) expect(await bed.append(leader, batchOf(from, from + 3))).toBe('committed');
  const client = await bed.client();
  const source = { client, keys: bed.keys, empty: emptyChain(7n), name: 'log', timeoutMs: 5_000 };
  await bed.run(client.admin.deleteRange(bed.keys.logStart, bed.keys.segmentStart(6)));
  const txn = await bed.run(client.begin());
  txn.put(bed.keys.image, encodeImageRoot({ ...EMPTY_IMAGE_ROOT, segment: 6, trimmed: at(17) }));
  await bed.run(txn.commit());
  const index = new BatchLocator(source);
  const { snapshot, tail } = await bed.run(lookAtTail(source, never));
  expect(await bed.run(index.firstFrom(snapshot, 1, never))).toEqual({ segment: 6, first: 17 });
  expect(await bed.run(index.locate(snapshot, tail, at(22), never))).toEqual({ segment: 7, first: 21 });
});
