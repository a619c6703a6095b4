import { logPosition } from '@engram/core';
import { never, sealOf } from '@engram/storage/testing';
import { expect, test } from 'vitest';
import { batchOf } from './sim-bed.ts';
import { TikvBed } from './tikv-bed.ts';

const END = 401;

/** A log of 400 records in a hundred batches and many segments, and a node that has none of them in memory. */
async function cold(bed: TikvBed) {
  const leader = await bed.open();
  await leader.log.seal(sealOf(1));
  for (let from = 1; from < END; from += 4) await leader.log.append(batchOf(from, from + 3), sealOf(1));
  const node = await bed.open({ local: { kind: 'memory', bytesMax: 400 } });
  const asked = (): number =>
    bed.cluster.calls.filter(({ command }) => ['Get', 'BatchGet', 'Scan'].includes(command)).length;
  const read = async (wanted: readonly number[]): Promise<number> => {
    const before = asked();
    const found = await node.values.getMany(
      wanted.map((position) => logPosition(position)),
      never,
    );
    expect(found.map((record) => Buffer.from(record).readUInt32LE())).toEqual(wanted);
    return asked() - before;
  };
  return { leader, read };
}

const every = (step: number): number[] => Array.from({ length: Math.ceil((END - 1) / step) }, (_, at) => 1 + step * at);

test('where most of the log is wanted several batches come with one question', async () => {
  await using bed = await TikvBed.make({ local: 'memory', segmentBytes: 4_000 });
  const { read } = await cold(bed);
  // The first read finds the segments, which the node remembers.
  await read(every(20));
  const sparse = await read(every(8));
  expect(sparse).toBeGreaterThan(50);
  for (const step of [1, 2, 3]) expect(await read(every(step))).toBeLessThan(100);
  expect(await read(every(1).toReversed())).toBeLessThan(100);
});

test('what has come since the last look is found', async () => {
  await using bed = await TikvBed.make({ local: 'memory', segmentBytes: 4_000 });
  const { leader, read } = await cold(bed);
  await read([1]);
  for (let from = END; from < END + 40; from += 4) await leader.log.append(batchOf(from, from + 3), sealOf(1));
  const both = Array.from({ length: 80 }, (_, at) => END - 40 + at);
  await read(both);
});
