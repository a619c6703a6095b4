import { Loop } from '@engram/loop';
import { noImageBase } from '@engram/storage';
import { never, sealOf } from '@engram/storage/testing';
import type { TikvClient } from '@engram/tikv-client';
import { quiet } from '@engram/sim';
import { describe, expect, test } from 'vitest';
import { emptyChain } from '../src/format/chain.ts';
import { PublishedPages } from '../src/image/image-directory.ts';
import { type ImageRoot, imageBytes, type RoundClaim } from '../src/format/image-root.ts';
import { ImageRootStore } from '../src/image/image-root-store.ts';
import { ImageWriter } from '../src/image/image-writer.ts';
import type { LogSource } from '../src/log/log-source.ts';
import { ImageBed, imageAt } from './image-bed.ts';
import { at } from './sim-bed.ts';

// Two nodes both believe that they hold the log, and TiKV has a seal of neither. Only the root keeps them apart.

function partsOf(bed: ImageBed, client: TikvClient, opener: bigint, epoch = 1) {
  const name = 'the log';
  const source: LogSource = { client, keys: bed.logKeys, empty: emptyChain(7n), name, timeoutMs: 10_000 };
  const holder = () => ({ seal: sealOf(epoch, opener), segment: 1, opener });
  const roots = new ImageRootStore({ source, holder });
  const claims = (round: number) => (root: ImageRoot) => ({
    ...root,
    claim: { round, epoch: holder().seal.epoch, opener },
  });
  const writer = (claim: RoundClaim) =>
    new ImageWriter(
      {
        source,
        roots,
        loop: new Loop(bed),
        logger: quiet,
        partBytesMax: 1000,
        base: new PublishedPages([]),
        pace: async () => {},
      },
      claim,
      never,
    );
  return { source, roots, holder, claims, writer };
}

async function two() {
  const bed = new ImageBed();
  const [one, other] = [partsOf(bed, await bed.client(), 11n), partsOf(bed, await bed.client(), 22n)];
  return { bed, one, other };
}

describe('the root of images', () => {
  test('changes from what was read, not from what it became meanwhile', async () => {
    const { bed, one, other } = await two();
    const seenByOne: (number | undefined)[] = [];
    let changing: Promise<unknown> | undefined;
    const remove = bed.cluster.script(({ command }) => {
      if (command !== 'Get') return undefined;
      remove();
      // The other node changes the root while the answer to the first node's read is on its way.
      bed.clock.after(100, () => {
        changing = other.roots.update(other.claims(5), never);
      });
      return { kind: 'delay', ms: 500 };
    });
    const updated = await bed.run(
      one.roots.update((root) => {
        seenByOne.push(root.claim?.round);
        return one.claims((root.claim?.round ?? 0) + 1)(root);
      }, never),
    );
    await bed.run(Promise.resolve(changing));
    expect(seenByOne).toEqual([undefined, 5]);
    expect(updated?.claim).toMatchObject({ round: 6, opener: 11n });
    expect(await bed.run(other.roots.read(never))).toEqual(updated);
  });

  test('names an image only by the claim of its round', async () => {
    const { bed, one, other } = await two();
    const claimed = (await bed.run(one.roots.update(one.claims(1), never)))!;
    const writer = one.writer(claimed.claim!);
    await bed.run(writer.write(imageAt(61)(noImageBase)));
    await bed.run(other.roots.update(other.claims(2), never));
    expect(await bed.run(writer.publish(at(61), 0))).toBeUndefined();
    // Another node claims the same number, which could happen only by chance.
    await bed.run(other.roots.update(other.claims(1), never));
    expect(await bed.run(writer.publish(at(61), 0))).toBeUndefined();
    expect((await bed.run(one.roots.read(never))).image).toBeUndefined();
    await bed.run(one.roots.update(one.claims(1), never));
    const image = await bed.run(writer.publish(at(61), 0));
    expect(image).toMatchObject({ round: 1, from: 61, records: 38 });
    expect(imageBytes(image!)).toBeGreaterThan(38 * 8);
    expect((await bed.run(other.roots.read(never))).image).toEqual(image);
  });

  test('names no image that is older than the one it has', async () => {
    const { bed, one } = await two();
    const first = one.writer((await bed.run(one.roots.update(one.claims(1), never)))!.claim!);
    await bed.run(first.write(imageAt(61)(noImageBase)));
    await bed.run(first.publish(at(61), 0));
    const second = one.writer((await bed.run(one.roots.update(one.claims(2), never)))!.claim!);
    await bed.run(second.write(imageAt(41)(noImageBase)));
    expect(await bed.run(second.publish(at(41), 0))).toBeUndefined();
  });

  test('takes no claim of an epoch before the last one', async () => {
    const { bed } = await two();
    const node = await bed.openSealed();
    await bed.fill(node, 1, 9, sealOf(1));
    const later = partsOf(bed, await bed.client(), 33n, 2);
    // Another node leads in a later epoch, and has not sealed the log yet.
    const unsealed = {
      ...later,
      roots: new ImageRootStore({ ...later, holder: () => ({ ...later.holder(), segment: 99 }) }),
    };
    await bed.run(unsealed.roots.update(later.claims(4), never));
    expect(await bed.save(node, 9)).toBe('deposed');
    expect((await bed.run(later.roots.read(never))).claim?.round).toBe(4);
  });
});
