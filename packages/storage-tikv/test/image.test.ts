import { logPosition } from '@engram/core';
import { Loop, StepPace } from '@engram/loop';
import { type ImageBase, StorageCorruptError, StorageTrimmedError } from '@engram/storage';
import { never, sealOf } from '@engram/storage/testing';
import { describe, expect, test } from 'vitest';
import { encodePiece } from '../src/format/image-piece.ts';
import { decodeImageRoot } from '../src/format/image-root.ts';
import { ImageBed, imageAt } from './image-bed.ts';
import { at, batchOf, first } from './sim-bed.ts';

const small = { segmentBytes: 300, partBytesMax: 200 };

/** A node that holds a log of 80 records in small segments. */
async function filled() {
  const bed = new ImageBed();
  const leader = await bed.openSealed(first, { ...small, member: 1n });
  await bed.fill(leader, 1, 81, first);
  const client = await bed.client();
  const need = (from: number) => bed.run(leader.image.need(at(from), never));
  return { bed, leader, client, need };
}

describe('an image', () => {
  test('is what a new node starts from, and gives the records that the log no longer has', async () => {
    const { bed, leader, client, need } = await filled();
    const before = await bed.segments(client);
    expect(before.length).toBeGreaterThan(5);
    expect(await bed.save(leader, 61)).toBe('published');
    await need(81);
    const trimmed = await bed.run(leader.image.trim(never));
    expect(trimmed!.before).toBeGreaterThan(1);
    expect(trimmed!.before).toBeLessThanOrEqual(61);
    expect(trimmed!.needed).toBe(81);
    const after = await bed.segments(client);
    expect(after.length).toBeLessThan(before.length);
    expect(after.at(-1)).toBe(before.at(-1));
    await bed.expectWhole(81, small);
    // The node that holds the log continues to append.
    await bed.fill(leader, 81, 101, first);
    await bed.expectWhole(101, small);
  });

  test('replaces the one before, whose pieces stay until the next round begins', async () => {
    const { bed, leader, client } = await filled();
    const count = async (of: number) => (await bed.pieces(client)).filter(({ round }) => round === of).length;
    expect(await bed.save(leader, 21)).toBe('published');
    const first = await count(1);
    await bed.saveCollecting(leader, 41);
    expect(await count(1)).toBe(first);
    await bed.saveCollecting(leader, 61);
    expect(await count(1)).toBeLessThan(first);
    await bed.expectWhole(81, small);
  });

  test('is written, and earlier ones are collected, by work that may give way after each step', async () => {
    const bed = new ImageBed();
    const loop = new Loop({ clock: bed.clock, pace: new StepPace(0) });
    const leader = await bed.openSealed(first, { ...small, member: 1n, loop });
    await bed.fill(leader, 1, 81, first);
    const client = await bed.client();
    expect(await bed.save(leader, 21)).toBe('published');
    await bed.saveCollecting(leader, 41);
    const pieces = (await bed.pieces(client)).length;
    const before = loop.usage.get('background')!.slices;
    await bed.saveCollecting(leader, 61);
    // Each piece of the earlier rounds is looked at, and each record of the new one has its place.
    expect(loop.usage.get('background')!.slices - before).toBeGreaterThan(pieces + 40);
    await bed.expectWhole(81, small);
  });

  test('keeps the pages whose records are the same, and writes the others', async () => {
    const { bed, leader, client } = await filled();
    const pages = async (): Promise<string[]> =>
      (await bed.pieces(client))
        .filter(({ kind, part }) => kind === 'page' && part === 0)
        .map(({ round }) => `${round}`);
    expect(await bed.save(leader, 41)).toBe('published');
    expect(await pages()).toEqual(['1', '1', '1', '1', '1']);
    // Position 34, in the fourth of five pages, is superseded, and the fifth page was not full.
    await bed.saveCollecting(leader, 61);
    expect(await pages()).toEqual(['1', '1', '1', '1', '1', '2', '2', '2']);
    await bed.expectWhole(81, small);
    // Pages that the image does not name are deleted, although pages before and behind them are kept.
    await bed.saveCollecting(leader, 81);
    expect(await pages()).toEqual(['1', '1', '1', '2', '2', '2', '3', '3', '3']);
    await bed.expectWhole(81, small);
  });

  test('writes a page again that is missing from the one before', async () => {
    const { bed, leader, client } = await filled();
    expect(await bed.save(leader, 61)).toBe('published');
    const removing = async (): Promise<void> => {
      const txn = await client.begin();
      txn.delete(bed.keys.piece({ round: 1, kind: 'page', number: 0, part: 0 }));
      await txn.commit();
    };
    await bed.run(removing());
    await bed.saveCollecting(leader, 71);
    await bed.run(leader.image.need(at(81), never));
    await bed.run(leader.image.trim(never));
    await bed.expectWhole(81, small);
  });

  test('of which the directory is damaged is replaced by one that keeps nothing', async () => {
    const { bed, leader, client } = await filled();
    expect(await bed.save(leader, 61)).toBe('published');
    const damaging = async (): Promise<void> => {
      const txn = await client.begin();
      txn.put(bed.keys.piece({ round: 1, kind: 'directory', number: 0, part: 0 }), Uint8Array.of(1));
      await txn.commit();
    };
    await bed.run(damaging());
    expect(await bed.save(leader, 71)).toBe('published');
    await bed.run(leader.image.need(at(81), never));
    await bed.run(leader.image.trim(never));
    await bed.expectWhole(81, small);
    await bed.saveCollecting(leader, 81);
  });

  test('is not published by a node that does not hold the log', async () => {
    const { bed, leader } = await filled();
    const other = await bed.open(small);
    expect(await bed.run(other.image.save(at(21), imageAt(21), never))).toBe('deposed');
    await bed.run(other.log.seal(sealOf(2, 9n)));
    expect(await bed.run(leader.image.save(at(21), imageAt(21), never))).toBe('deposed');
    expect(await bed.run(leader.image.trim(never))).toBeUndefined();
    expect((await bed.run(other.image.status(never))).from).toBeUndefined();
    expect(await bed.save(other, 21)).toBe('published');
  });

  test('is not published by a node that was deposed while it wrote', async () => {
    const { bed, leader } = await filled();
    const other = await bed.open(small);
    const gate = Promise.withResolvers<void>();
    async function* slowly(base: ImageBase) {
      for await (const part of imageAt(61)(base)) {
        yield part;
        await gate.promise;
      }
    }
    const saving = leader.image.save(at(61), slowly, never);
    await bed.run(other.log.seal(sealOf(2, 9n)));
    gate.resolve();
    expect(await bed.run(saving)).toBe('deposed');
    expect((await bed.run(other.image.status(never))).from).toBeUndefined();
    await bed.expectWhole(81, small);
  });

  test('that is older than the published one is not published', async () => {
    const { bed, leader } = await filled();
    expect(await bed.save(leader, 61)).toBe('published');
    expect(await bed.save(leader, 41)).toBe('deposed');
    await bed.expectWhole(81, small);
  });

  test('ends with the error of who gives its parts, and the next one deletes what it left', async () => {
    const { bed, leader, client } = await filled();
    async function* failing(base: ImageBase) {
      yield* imageAt(41)(base);
      throw new Error('no more');
    }
    // The 2 MiB chunk is written before the failure, because the writer gathers at most 1 MiB.
    async function* large(base: ImageBase) {
      yield { kind: 'chunk' as const, bytes: new Uint8Array(2 << 20) };
      yield* failing(base);
    }
    await expect(bed.run(leader.image.save(at(41), large, never))).rejects.toThrow('no more');
    expect(await bed.rounds(client)).toEqual([1]);
    expect(await bed.save(leader, 41)).toBe('published');
    expect(await bed.rounds(client)).toEqual([2]);
    await expect(bed.run(leader.image.save(at(61), large, never))).rejects.toThrow('no more');
    expect(await bed.rounds(client)).toEqual([2, 3]);
    await bed.saveCollecting(leader, 61);
    expect(await bed.rounds(client)).toEqual([2, 4]);
  });

  test('is refused where what is read back is not what was written', async () => {
    const { bed, leader } = await filled();
    let scans = 0;
    bed.cluster.script((call) => {
      if (call.command !== 'Scan') return undefined;
      scans += 1;
      return { kind: 'answer', response: { pairs: [] } };
    });
    await expect(bed.save(leader, 61)).rejects.toThrow(StorageCorruptError);
    expect(scans).toBeGreaterThan(0);
    expect((await bed.run(leader.image.status(never))).from).toBeUndefined();
  });

  test('says how much log lies behind it', async () => {
    const { bed, leader } = await filled();
    const before = await bed.run(leader.image.status(never));
    expect(before).toMatchObject({ from: undefined, imageBytes: 0, trimmed: 1, logBytesBehind: 80 * 8 });
    expect(await bed.save(leader, 81)).toBe('published');
    const after = await bed.run(leader.image.status(never));
    expect(after).toMatchObject({ from: 81, logBytesBehind: 0 });
    expect(after.imageBytes).toBeGreaterThan(54 * 8);
    await bed.fill(leader, 81, 91, first);
    expect((await bed.run(leader.image.status(never))).logBytesBehind).toBe(80);
  });

  test('whose root is damaged stops a start by name', async () => {
    const { bed, leader, client } = await filled();
    expect(await bed.save(leader, 61)).toBe('published');
    const value = await bed.run(client.get(bed.keys.image));
    expect(decodeImageRoot(value!)?.image?.from).toBe(61);
    const damaged = value!.slice();
    damaged[20]! ^= 1;
    await bed.run(
      (async () => {
        const txn = await client.begin();
        txn.put(bed.keys.image, damaged);
        await txn.commit();
      })(),
    );
    await expect(bed.open(small)).rejects.toThrow("the value of the image's root is damaged");
  });

  test.each(['chunk', 'page', 'places', 'directory'] as const)(
    'whose %s is damaged, or missing, is refused by name',
    async (kind) => {
      const { bed, leader, client, need } = await filled();
      expect(await bed.save(leader, 81)).toBe('published');
      await need(81);
      await bed.run(leader.image.trim(never));
      const key = bed.keys.piece({ round: 1, kind, number: 0, part: 0 });
      const value = (await bed.run(client.get(key)))!;
      const write = (bytes: Uint8Array | undefined): Promise<void> =>
        bed.run(
          (async () => {
            const txn = await client.begin();
            if (bytes === undefined) txn.delete(key);
            else txn.put(key, bytes);
            await txn.commit();
          })(),
        );
      const damaged = value.slice();
      damaged[damaged.length - 1]! ^= 1;
      await write(damaged);
      await expect(bed.expectWhole(81, small)).rejects.toThrow(`${kind} 0 of image 1 is damaged`);
      await write(undefined);
      await expect(bed.expectWhole(81, small)).rejects.toThrow(`${kind} 0 of image 1 is missing`);
      await write(value);
      await bed.expectWhole(81, small);
    },
  );
});

test('a chunk that is whole, and not the one that was published, is refused', async () => {
  const { bed, leader, client } = await filled();
  expect(await bed.save(leader, 61)).toBe('published');
  const name = { round: 1, kind: 'chunk', number: 0 } as const;
  const [value] = encodePiece(name, Uint8Array.of(1), 1000);
  const writing = async (): Promise<void> => {
    const txn = await client.begin();
    txn.put(bed.keys.piece({ ...name, part: 0 }), value!);
    await txn.commit();
  };
  await bed.run(writing());
  const node = await bed.open(small);
  const reading = async (): Promise<void> => {
    const checkpoint = await node.values.loadCheckpoint();
    for await (const _ of checkpoint!.chunks(never));
  };
  await expect(bed.run(reading())).rejects.toThrow('the chunks of image 1 are not those that were published');
});

describe('a trim', () => {
  test('keeps what a member that lives needs, and no longer what a silent one does', async () => {
    const { bed, leader, client, need } = await filled();
    const other = await bed.open({ ...small, member: 2n });
    expect(await bed.save(leader, 81)).toBe('published');
    await need(81);
    // A node that has not reported a need since it was opened needs the whole log.
    expect(await bed.run(leader.image.trim(never))).toBeUndefined();
    await bed.run(other.image.need(at(30), never));
    const trimmed = await bed.run(leader.image.trim(never));
    expect(trimmed!.needed).toBe(30);
    expect(trimmed!.before).toBeLessThanOrEqual(30);
    expect((await bed.read(other, 30))[0]).toBe(30);
    // The other node makes no progress, but is alive.
    for (let beat = 0; beat < 2; beat += 1) {
      bed.clock.advance(400_000);
      await need(81);
      await bed.run(other.image.need(at(30), never));
      expect(await bed.run(leader.image.trim(never))).toBeUndefined();
    }
    bed.clock.advance(400_000);
    await need(81);
    expect(await bed.run(leader.image.trim(never))).toBeUndefined();
    bed.clock.advance(400_000);
    await need(81);
    expect((await bed.run(leader.image.trim(never)))!.needed).toBe(81);
    expect((await bed.segments(client)).length).toBe(1);
    await expect(bed.read(other, 30)).rejects.toThrow(StorageTrimmedError);
  });

  test('deletes nothing without an image, and nothing behind it', async () => {
    const { bed, leader, client, need } = await filled();
    await need(81);
    const before = await bed.segments(client);
    expect(await bed.run(leader.image.trim(never))).toBeUndefined();
    expect(await bed.segments(client)).toEqual(before);
    expect(await bed.save(leader, 30)).toBe('published');
    const trimmed = await bed.run(leader.image.trim(never));
    expect(trimmed!.before).toBeLessThanOrEqual(30);
    expect((await bed.read(leader, 30)).length).toBe(51);
  });

  test('leaves a log that can be taken over, ends in the same place, and is trimmed again', async () => {
    const { bed, leader, client, need } = await filled();
    expect(await bed.save(leader, 81)).toBe('published');
    await need(81);
    await bed.run(leader.image.trim(never));
    const seal = sealOf(2, 9n);
    const other = await bed.open({ ...small, member: 2n });
    expect(await bed.run(other.log.seal(seal))).toBe(81);
    await bed.fill(other, 81, 161, seal);
    expect(await bed.save(other, 161)).toBe('published');
    bed.clock.advance(1);
    await bed.run(other.image.need(at(161), never));
    await need(161);
    await bed.run(other.image.trim(never));
    expect((await bed.segments(client)).length).toBe(1);
    await bed.expectWhole(161, small);
  });

  test('is completed by the next one where only the root was changed', async () => {
    const { bed, leader, client, need } = await filled();
    expect(await bed.save(leader, 81)).toBe('published');
    await need(81);
    const before = await bed.segments(client);
    const remove = bed.cluster.script(({ command }) =>
      command === 'DeleteRange' ? { kind: 'silence', executed: false } : undefined,
    );
    await expect(bed.run(leader.image.trim(never))).rejects.toThrow();
    remove();
    expect(await bed.segments(client)).toEqual(before);
    // Another process, which does not know of the interrupted trim.
    const seal = sealOf(2, 9n);
    const other = await bed.openSealed(seal, small);
    await bed.run(other.image.trim(never));
    expect((await bed.segments(client)).length).toBe(1);
    await bed.expectWhole(81, small);
  });

  test('leaves nothing to read before the image, which is said by name', async () => {
    const { bed, leader, need } = await filled();
    const reader = await bed.open(small);
    const another = await bed.open(small);
    expect(await bed.save(leader, 81)).toBe('published');
    await need(81);
    await bed.run(leader.image.trim(never));
    // This node was opened when there was no image yet.
    expect(await bed.run(another.values.getMany([logPosition(4)], never))).toEqual(batchOf(4).records);
    await expect(bed.read(reader, 1)).rejects.toThrow(StorageTrimmedError);
    // Record 3 is superseded, so the image does not have it.
    await expect(bed.run(reader.values.getMany([logPosition(3)], never))).rejects.toThrow(StorageTrimmedError);
    expect(await bed.run(reader.values.getMany([logPosition(4)], never))).toEqual(batchOf(4).records);
    await expect(bed.run(reader.values.getMany([logPosition(90)], never))).rejects.toThrow(StorageCorruptError);
  });
});
