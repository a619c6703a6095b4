import type { ImageBase } from '@engram/storage';
import { never, sealOf } from '@engram/storage/testing';
import { inspectStorage } from '@engram/storage-tikv';
import { expect, test } from 'vitest';
import { ImageBed, imageAt } from './image-bed.ts';
import { at, first } from './sim-bed.ts';

const small = { segmentBytes: 300, partBytesMax: 200 };

test('shows segments, seals, rounds, needs and regions, and changes nothing', async () => {
  const bed = new ImageBed();
  const leader = await bed.openSealed(first, { ...small, member: 0xan });
  const other = await bed.open({ ...small, member: 0xbn });
  await bed.fill(leader, 1, 41, first);
  const client = await bed.client();
  const look = () => bed.run(inspectStorage({ client, prefix: 'test', signal: never, timeoutMs: 5_000 }));

  const before = await look();
  expect(before).toMatchObject({ prefix: 'test', clusterId: '7', rounds: [], trimWaitsFor: 'the first image' });
  expect(before.image).toBeUndefined();
  expect(before.log).toMatchObject({ begin: 1, next: 41, recordBytes: 40 * 8 });
  expect(before.log.segments[0]).toMatchObject({ segment: 1, epoch: 0, holder: '0', values: 0, sealed: true });
  expect(before.log.segments[1]).toMatchObject({ segment: 2, epoch: 1, first: 1, sealed: true });
  expect(before.log.segments.at(-1)).toMatchObject({ epoch: 1, sealed: false });
  const values = before.log.segments.reduce((sum, segment) => sum + segment.values, 0);
  expect(before.regions.reduce((sum, { logValues }) => sum + logValues, 0)).toBe(
    values + before.log.segments.filter(({ sealed }) => sealed).length,
  );

  expect(await bed.save(leader, 21)).toBe('published');
  await bed.run(leader.image.need(at(41), never));
  await bed.run(other.image.need(at(5), never));
  await bed.run(leader.image.trim(never));
  async function* failing(base: ImageBase) {
    yield { kind: 'chunk' as const, bytes: new Uint8Array(2 << 20) };
    yield* imageAt(41)(base);
    throw new Error('no more');
  }
  await expect(bed.run(leader.image.save(at(41), failing, never))).rejects.toThrow('no more');
  const calls = bed.cluster.calls.length;
  const after = await look();
  expect(after.image).toMatchObject({ round: 1, from: 21, records: 14 });
  expect(after.claim).toMatchObject({ round: 2, epoch: 1 });
  expect(after.rounds.map(({ round, state }) => [round, state])).toEqual([
    [1, 'published'],
    [2, 'claimed'],
  ]);
  expect(after.needs).toEqual([
    { member: 'a', from: 41 },
    { member: 'b', from: 5 },
  ]);
  expect(after.trimWaitsFor).toBe('member b, which needs the log from 5');
  expect(after.log.begin).toBeLessThanOrEqual(5);
  expect(after.regions.reduce((sum, { imagePieces }) => sum + imagePieces, 0)).toBe(
    after.rounds.reduce((sum, { pieces }) => sum + pieces, 0),
  );
  const sent = new Set(bed.cluster.calls.slice(calls).map(({ command }) => command));
  for (const command of sent) expect(['Get', 'BatchGet', 'Scan']).toContain(command);

  await bed.run(other.image.need(at(41), never));
  await bed.run(leader.image.trim(never));
  await bed.run(other.log.seal(sealOf(2, 9n)));
  expect(await bed.save(other, 41)).toBe('published');
  const last = await look();
  expect(last.log.begin).toBeGreaterThan(5);
  expect(last.log.segments[0]!.first).toBe(last.log.begin);
  expect(last.log.segments.at(-1)).toMatchObject({ epoch: 2, holder: '9', values: 0, sealed: false });
  expect(last.rounds.map(({ round, state, pages }) => [round, state, pages])).toEqual([
    [1, 'kept', 1],
    [3, 'published', 4],
  ]);
  expect(last.trimWaitsFor).toBe('the next image, or the end of a segment');
});

test('refuses a prefix where nothing is', async () => {
  const bed = new ImageBed();
  const client = await bed.client();
  const looking = bed.run(inspectStorage({ client, prefix: 'none', signal: never, timeoutMs: 5_000 }));
  await expect(looking).rejects.toThrow('there is no cluster at the prefix "none"');
});

test('a trim while it looks is no damage', async () => {
  const bed = new ImageBed();
  const leader = await bed.openSealed(first, { ...small, member: 0xan });
  await bed.fill(leader, 1, 41, first);
  expect(await bed.save(leader, 41)).toBe('published');
  await bed.run(leader.image.need(at(41), never));
  const client = await bed.client();
  const { image } = leader;
  let trims = 0;
  /** The seal that names the owner of the second segment. A trim runs just before it is read. */
  const asked = bed.logKeys.seal(1);
  const plain = client.snapshot.bind(client);
  client.snapshot = async (options) => {
    const snapshot = await plain(options);
    const get = snapshot.get.bind(snapshot);
    snapshot.get = async (key, call) => {
      if (trims === 0 && Buffer.compare(key, asked) === 0) {
        trims += 1;
        await image.trim(never);
      }
      return await get(key, call);
    };
    return snapshot;
  };
  const report = await bed.run(inspectStorage({ client, prefix: 'test', signal: never, timeoutMs: 5_000 }));
  expect(trims).toBe(1);
  expect(report.log.next).toBe(41);
  expect(report.log.segments.length).toBeGreaterThan(0);
});
