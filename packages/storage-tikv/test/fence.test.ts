import type { Seal } from '@engram/core';
import { Prng } from '@engram/sim';
import { type LogBatch, StorageFencedError, StorageTrimmedError, StorageUnavailableError } from '@engram/storage';
import { never, sealOf } from '@engram/storage/testing';
import type { TikvStorage } from '@engram/storage-tikv';
import { describe, expect, test } from 'vitest';
import { ImageBed } from './image-bed.ts';
import { at, first, record } from './sim-bed.ts';
import { StoppableProcess } from './stopping.ts';

// A storage stands still, another one takes the log over, writes, publishes an image, and trims: the segment that the first one
// appends to, or seals, has no batches any more. Whatever the first one does then must be refused, or be where the log is now.

const later = sealOf(2, 9n);
const small = { segmentBytes: 300, partBytesMax: 200 };

/** A batch of another writer at the position: its records differ from those of `batchOf`. */
const otherBatch = (from: number, count: number): LogBatch => ({
  first: at(from),
  records: Array.from({ length: count }, (_, index) => record(1_000_000 + from + index)),
});

class FenceBed extends ImageBed {
  /** Takes the log over with this seal. Undefined if it is held by a later one. */
  async take(seal: Seal): Promise<{ readonly storage: TikvStorage; readonly next: number } | undefined> {
    const storage = await this.open({ ...small, member: 2n });
    try {
      return { storage, next: await this.run(storage.log.seal(seal)) };
    } catch (error) {
      if (error instanceof StorageFencedError) return undefined;
      throw error;
    }
  }

  /** From now on an append gets no answer, and does not see what is there either. The returned function ends that. */
  answerNothing(executed: boolean): () => void {
    return this.cluster.script(({ command }) =>
      command === 'Prewrite' || command === 'Get' ? { kind: 'silence', executed } : undefined,
    );
  }

  /** Writes to the log, publishes an image of all of it, and trims. Returns the end of the log. */
  async moveOn(storage: TikvStorage, from: number, seal: Seal): Promise<number> {
    const end = from + 60;
    await this.fill(storage, from, end, seal);
    expect(await this.save(storage, end)).toBe('published');
    await this.run(storage.image.need(at(end), never));
    expect(await this.run(storage.image.trim(never))).toBeDefined();
    return end;
  }

  /** Expects that nothing but seals is left of the segments before the begin of the log. */
  async expectOnlySealsBefore(trimmed: number): Promise<void> {
    const client = await this.client();
    const range = { start: this.logKeys.logStart, end: this.logKeys.logEnd };
    const keys = (await this.keysOf(client, range)).map((key) => this.logKeys.parse(key)!);
    const firsts = keys.flatMap((key) => (key.kind === 'slot' ? [key.first] : []));
    expect(firsts[0]).toBe(trimmed);
    const seals = keys.flatMap((key) => (key.kind === 'seal' ? [key.segment] : []));
    expect(seals).toEqual(seals.map((_, index) => index + 1));
  }

  /** The log as a storage reads it that starts now. */
  async look(): Promise<{ readonly trimmed: number; readonly records: readonly number[] }> {
    const reader = await this.open(small);
    const { trimmed } = await this.run(reader.image.status(never));
    return { trimmed, records: await this.read(reader, trimmed) };
  }
}

/** A storage in a process of its own that holds the log. Its next batch begins at 13, and ends a segment. */
async function stoppable() {
  const bed = new FenceBed();
  const process = new StoppableProcess(bed.scheduler, new Prng(1));
  const old = await bed.open(small, process);
  await bed.run(old.log.seal(first));
  await bed.fill(old, 1, 13, first);
  return { bed, process, old };
}

const executed = [false, true];

function unlessUnavailable(error: unknown): void {
  if (!(error instanceof StorageUnavailableError)) throw error;
}

describe('a storage that stood still while another one took the log over and trimmed it', () => {
  test('appends nothing any more', async () => {
    const { bed, old } = await stoppable();
    const { storage, next } = (await bed.take(later))!;
    await bed.moveOn(storage, next, later);
    // What the segment had is not known any more, so the answer does not say that the batch is not in the log.
    for (const _ of [1, 2]) expect(await bed.append(old, otherBatch(13, 4), first)).toBe('trimmed');
    expect(await bed.append(old, otherBatch(13, 1), first)).toBe('trimmed');
    const { trimmed, records } = await bed.look();
    expect(records).toEqual(records.map((_, index) => trimmed + index));
    await bed.expectOnlySealsBefore(trimmed);
  });

  test('publishes no image, and trims nothing', async () => {
    const { bed, old } = await stoppable();
    const { storage, next } = (await bed.take(later))!;
    await bed.moveOn(storage, next, later);
    const before = await bed.look();
    expect(await bed.save(old, 13)).toBe('deposed');
    await bed.run(old.image.need(at(13), never));
    expect(await bed.run(old.image.trim(never))).toBeUndefined();
    expect(await bed.look()).toEqual(before);
  });

  test('appends nothing although the next process of its member has deleted what it reported', async () => {
    const { bed } = await stoppable();
    const old = await bed.openSealed(sealOf(2, 1n), { ...small, member: 1n });
    await bed.run(old.image.need(at(13), never));
    const replacement = await bed.open({ ...small, member: 1n });
    const { storage, next } = (await bed.take(sealOf(3, 9n)))!;
    await bed.fill(storage, next, 73, sealOf(3, 9n));
    bed.clock.advance(60_000);
    await bed.run(replacement.image.need(at(73), never));
    await bed.moveOn(storage, 73, sealOf(3, 9n));
    expect(await bed.append(old, otherBatch(13, 4), sealOf(2, 1n))).toBe('trimmed');
    await bed.expectOnlySealsBefore((await bed.look()).trimmed);
  });

  /** What became of the first request of the appends, before the process was stopped. */
  const earlier = [
    { lost: 'nothing', arrives: undefined },
    { lost: 'the answer', arrives: true },
    { lost: 'the request', arrives: false },
  ] as const;

  describe.each(earlier)('at any request of its appends, of which $lost was lost before', ({ lost, arrives }) => {
    test.each(executed)('(executed: %s)', async (executed) => {
      const seen = new Set<string>();
      for (let step = 1; ; step += 1) {
        const { bed, process, old } = await stoppable();
        if (arrives !== undefined) {
          const remove = bed.answerNothing(arrives);
          expect(await bed.append(old, otherBatch(13, 4), first)).toBe('uncertain');
          remove();
        }
        let landed = 0;
        process.stopAt(step, executed, async () => {
          const { storage, next } = (await bed.take(later))!;
          landed = next;
          await bed.moveOn(storage, next, later);
        });
        let position = 13;
        let outcome = 'committed';
        for (; outcome === 'committed' && position < 25; position += outcome === 'committed' ? 4 : 0) {
          do outcome = await bed.append(old, otherBatch(position, 4), first);
          while (outcome === 'uncertain');
        }
        if (!process.wasStopped) break;
        seen.add(outcome);
        // What was acknowledged is there, and of what was refused nothing is.
        expect(landed, `step ${step}`).toBeGreaterThanOrEqual(position);
        if (outcome === 'fenced') expect(landed, `step ${step}`).toBe(position);
        if (outcome !== 'committed') expect(['fenced', 'trimmed']).toContain(outcome);
        expect(await bed.append(old, otherBatch(position, 4), first)).not.toBe('committed');
        const { trimmed, records } = await bed.look();
        expect(records, `step ${step}`).toEqual(records.map((_, index) => trimmed + index));
        await bed.expectOnlySealsBefore(trimmed);
      }
      expect(seen).toContain('trimmed');
      expect(lost === 'nothing' && !executed ? [...seen] : ['trimmed']).toEqual(['trimmed']);
    });
  });

  test.each(executed)('at any request of a round and a trim (executed: %s)', async (executed) => {
    const seen = new Set<string>();
    for (let step = 1; ; step += 1) {
      const { bed, process, old } = await stoppable();
      let end = 13;
      process.stopAt(step, executed, async () => {
        const { storage, next } = (await bed.take(later))!;
        end = await bed.moveOn(storage, next, later);
      });
      // Where a later round has deleted what this one wrote, that is no damage.
      const saved = await bed.save(old, 13).catch((error: unknown) => error);
      if (!(saved instanceof StorageUnavailableError)) {
        seen.add(String(saved));
        await bed.run(old.image.trim(never)).catch(unlessUnavailable);
      }
      if (!process.wasStopped) break;
      const { trimmed, records } = await bed.look();
      expect(trimmed + records.length, `step ${step}`).toBe(end);
      await bed.expectOnlySealsBefore(trimmed);
    }
    expect([...seen].sort()).toEqual(['deposed', 'published']);
  });

  describe.each([2, 4])('at any request of its seal of epoch 3, beside epoch %i', (epoch) => {
    test.each(executed)('(executed: %s)', async (executed) => {
      const seen = new Set<string>();
      const expected: Record<number, readonly string[]> = {
        2: ['sealed at 13 of 13', 'sealed at 73 of 73'],
        4: executed ? ['fenced at 73', 'sealed at 13 of 73'] : ['fenced at 73'],
      };
      const other = sealOf(epoch, 9n);
      const candidate = sealOf(3, 5n);
      for (let step = 1; ; step += 1) {
        const { bed, process, old } = await stoppable();
        let end = 13;
        process.stopAt(step, executed, async () => {
          const taken = await bed.take(other);
          if (taken !== undefined) end = await bed.moveOn(taken.storage, taken.next, other);
        });
        const outcome = await bed.run(old.log.seal(candidate)).catch((error: unknown) => error);
        if (!process.wasStopped) break;
        if (outcome instanceof StorageFencedError) {
          seen.add(`fenced at ${end}`);
          expect(epoch).toBe(4);
        } else {
          seen.add(`sealed at ${outcome} of ${end}`);
          // A seal that another one followed at once may still be answered.
          if (epoch === 2) expect(outcome, `step ${step}`).toBe(end);
        }
        const appended = await bed.append(old, otherBatch(end, 4), candidate);
        expect(appended, `step ${step}`).toBe(epoch === 2 ? 'committed' : 'fenced');
        const { trimmed, records } = await bed.look();
        const more = appended === 'committed' ? 4 : 0;
        expect(trimmed + records.length, `step ${step}`).toBe(end + more);
        await bed.expectOnlySealsBefore(trimmed);
      }
      expect([...seen].sort()).toEqual(expected[epoch]);
    });
  });
});

test.each(executed)(
  'a reader that is stopped at any request finds the rest, or that it is trimmed (executed: %s)',
  async (executed) => {
    const seen = new Set<string>();
    for (let step = 1; ; step += 1) {
      const { bed, process, old } = await stoppable();
      const writer = await bed.openSealed(later, small);
      await bed.fill(writer, 13, 41, later);
      process.stopAt(step, executed, async () => void (await bed.moveOn(writer, 41, later)));
      const outcome = await bed.read(old, 13).catch((error: unknown) => error);
      if (!process.wasStopped) break;
      if (outcome instanceof StorageTrimmedError) seen.add('trimmed');
      // Stopped for longer than the request's deadline.
      else if (!(outcome instanceof StorageUnavailableError)) {
        if (outcome instanceof Error) throw outcome;
        const positions = outcome as readonly number[];
        seen.add(`up to ${12 + positions.length}`);
        expect(positions, `step ${step}`).toEqual(positions.map((_, index) => 13 + index));
      }
    }
    expect([...seen].sort()).toEqual(executed ? ['trimmed', 'up to 40'] : ['trimmed']);
  },
);

test('a storage that trims for the first time deletes only what others have not', async () => {
  const bed = new FenceBed();
  const deleted: number[] = [];
  for (let epoch = 1, end = 1; epoch < 5; epoch += 1) {
    const seal = sealOf(epoch, 9n);
    const storage = await bed.openSealed(seal, small);
    const before = bed.cluster.sent('DeleteRange').length;
    end = await bed.moveOn(storage, end, seal);
    deleted.push(bed.cluster.sent('DeleteRange').length - before);
  }
  expect(Math.max(...deleted)).toBeLessThan(deleted[0]! + 5);
});

describe('an append whose answer was lost', () => {
  /** A storage whose batch at 13 is in the log, and which does not know it. */
  async function unanswered(segmentBytes = 3000) {
    const bed = new FenceBed();
    const old = await bed.openSealed(first, { ...small, segmentBytes });
    await bed.fill(old, 1, 13, first);
    const remove = bed.answerNothing(true);
    expect(await bed.append(old, otherBatch(13, 4), first)).toBe('uncertain');
    remove();
    const { storage, next } = (await bed.take(later))!;
    expect(next).toBe(17);
    return { bed, old, storage };
  }

  test('is found where another storage has sealed the segment since', async () => {
    const { bed, old, storage } = await unanswered();
    await bed.fill(storage, 17, 41, later);
    expect(await bed.append(old, otherBatch(13, 4), first)).toBe('committed');
  });

  test('is found also where a region border came between the batch and the seal', async () => {
    const { bed, old, storage } = await unanswered();
    const client = await bed.client();
    const [segment] = (await bed.segments(client)).slice(-1);
    bed.cluster.regions.split(bed.logKeys.seal(segment!));
    expect(await bed.append(old, otherBatch(13, 4), first)).toBe('committed');
    void storage;
  });

  test('is found by a process that started since, and a batch that never arrived is not', async () => {
    const { bed, storage } = await unanswered();
    await bed.fill(storage, 17, 41, later);
    const again = await bed.open(small);
    expect(await bed.append(again, otherBatch(13, 4), first)).toBe('committed');
    expect(await bed.append(again, otherBatch(17, 4), first)).toBe('fenced');
    expect(await bed.append(again, otherBatch(41, 4), first)).toBe('fenced');
  });

  test('is not called refused where the log was trimmed since', async () => {
    const { bed, old, storage } = await unanswered();
    await bed.moveOn(storage, 17, later);
    for (const _ of [1, 2]) expect(await bed.append(old, otherBatch(13, 4), first)).toBe('trimmed');
    // Nor by a process that did not send it.
    const again = await bed.open(small);
    expect(await bed.append(again, otherBatch(13, 4), first)).toBe('trimmed');
    // The log still has this place.
    expect(await bed.append(again, otherBatch(77, 4), first)).toBe('fenced');
  });
});

test('an append that succeeds after a long silence is not believed where the log was trimmed meanwhile', async () => {
  const bed = new FenceBed();
  const [old, idle] = [await bed.openSealed(first, small), await bed.open(small)];
  await bed.fill(old, 1, 13, first);
  const { storage, next } = (await bed.take(later))!;
  await bed.moveOn(storage, next, later);
  // A version that deleted seals has trimmed as well.
  const client = await bed.client();
  const last = (await bed.segments(client))[0]!;
  await bed.run(client.admin.deleteRange(bed.logKeys.logStart, bed.logKeys.seal(last - 1)));
  bed.clock.advance(700_000);
  expect(await bed.append(old, otherBatch(13, 4), first)).toBe('trimmed');
  // Without a trim, the question changes nothing.
  await bed.run(idle.log.seal(sealOf(3, 1n)));
  bed.clock.advance(700_000);
  expect(await bed.append(idle, otherBatch(73, 4), sealOf(3, 1n))).toBe('committed');
});

describe('the seals of trimmed segments', () => {
  /** The requests of a start, a takeover and reads behind `batches` batches, each in a segment of its own, all trimmed. */
  async function requestsBehind(batches: number): Promise<readonly number[]> {
    const bed = new FenceBed();
    const tiny = { segmentBytes: 1, partBytesMax: 1000 };
    const leader = await bed.openSealed(first, tiny);
    const early = await bed.open(tiny);
    const end = 1 + 4 * batches;
    await bed.fill(leader, 1, end, first);
    expect(await bed.save(leader, end)).toBe('published');
    await bed.run(leader.image.trim(never));
    await bed.fill(leader, end, end + 40, first);
    const count = async (work: () => Promise<unknown>): Promise<number> => {
      const before = bed.cluster.calls.length;
      await work();
      return bed.cluster.calls.length - before;
    };
    let node = leader;
    const opened = await count(async () => {
      node = await bed.open(tiny);
    });
    const read = await count(() => bed.read(node, end + 8));
    const looked = await count(() => bed.run(node.values.getMany([at(end + 20)], never)));
    // This one was opened before the trim, and believes that the log begins with the first segment.
    const readEarly = await count(() => bed.read(early, end + 8));
    const sealed = await count(() => bed.run(node.log.seal(later)));
    return [opened, read, looked, readEarly, sealed];
  }

  test('cost a start, a takeover and reads almost nothing, however many they are', async () => {
    const few = await requestsBehind(30);
    const many = await requestsBehind(600);
    // The early one finds by a binary search where the log begins now.
    for (const [index, requests] of many.entries())
      expect(requests - few[index]!).toBeLessThanOrEqual(index === 3 ? 8 : 0);
  });
});
