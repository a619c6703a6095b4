import { never } from '@engram/storage/testing';
import { expect, test } from 'vitest';
import { ImageBed, liveBefore } from './image-bed.ts';
import { at, first, record } from './sim-bed.ts';

// TiKV deletes a range in one column family after the other: a read meanwhile is aborted.

const aborted = { kind: 'answer', response: { error: { abort: 'DefaultNotFound' } } } as const;

/** A node that holds the log, and one without a disk that has just begun to read. */
async function twoNodes() {
  const bed = new ImageBed();
  const leader = await bed.openSealed(first, { segmentBytes: 300 });
  await bed.fill(leader, 1, 61, first);
  const reader = await bed.open({ local: { kind: 'memory', bytesMax: 1 } });
  const read = async (): Promise<void> => {
    const positions = liveBefore(61).filter((position) => position < 13);
    expect(await bed.run(reader.values.getMany(positions, never))).toEqual(
      positions.map((position) => record(position)),
    );
  };
  return { bed, leader, read };
}

test('a record that a trim deletes while it is read is found in the image', async () => {
  const { bed, leader, read } = await twoNodes();
  expect(await bed.save(leader, 61)).toBe('published');
  let asked = 0;
  bed.cluster.script(({ command, request }) => {
    // The key is there still, the value is not.
    if (command !== 'Get' || bed.keys.parse((request as { readonly key: Uint8Array }).key)?.kind !== 'slot')
      return undefined;
    asked += 1;
    return aborted;
  });
  await read();
  expect(asked).toBeGreaterThan(0);
});

test('a page that a round deletes while it is read is found in the next image', async () => {
  const { bed, leader, read } = await twoNodes();
  expect(await bed.save(leader, 61)).toBe('published');
  await bed.run(leader.image.need(at(61), never));
  expect(await bed.run(leader.image.trim(never))).toBeDefined();
  await read();
  await bed.fill(leader, 61, 81, first);
  expect(await bed.save(leader, 81)).toBe('published');
  let asked = 0;
  bed.cluster.script(({ command, request }) => {
    if (command !== 'BatchGet' || asked > 0) return undefined;
    const [key] = (request as { readonly keys: readonly Uint8Array[] }).keys;
    if (bed.keys.parsePiece(key!) === undefined) return undefined;
    asked += 1;
    return aborted;
  });
  await read();
  expect(asked).toBe(1);
});
