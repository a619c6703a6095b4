import { epoch, type Seal } from '@engram/core';
import { StorageOpenError, StorageTimestampError } from '@engram/storage';
import { never, sealOf } from '@engram/storage/testing';
import type { TikvStorage } from '@engram/storage-tikv';
import { beforeEach, describe, expect, test } from 'vitest';
import { crcOf } from '../src/format/value-crc.ts';
import { decodeSeal, encodeSeal, type SegmentOwner } from '../src/format/seal-record.ts';
import { batchOf, first, SimBed } from './sim-bed.ts';

let bed: SimBed;
beforeEach(() => {
  bed = new SimBed();
});

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const second = sealOf(2, 9n);

/** The seals of the log as the stores have them, whatever PD allocates. */
function sealsOf(): readonly SegmentOwner[] {
  return bed.cluster.mvcc
    .rows(bed.keys.logStart, bed.keys.logEnd)
    .filter(({ key, writes }) => bed.keys.parse(key)?.kind === 'seal' && writes.length > 0)
    .map(({ writes }) => decodeSeal(writes[0]!.value)!);
}

/** Takes the log over, by default with a storage that starts now. Returns the refusal of the start or of the seal, or undefined. */
async function refusalOf(seal: Seal, opened?: TikvStorage): Promise<StorageTimestampError | undefined> {
  const refused = (error: unknown): StorageTimestampError => {
    const reason = error instanceof StorageOpenError ? error.cause : error;
    if (reason instanceof StorageTimestampError) return reason;
    throw error;
  };
  const storage = opened ?? (await bed.open().catch(refused));
  if (storage instanceof StorageTimestampError) return storage;
  return await bed.run(storage.log.seal(seal).then(() => undefined, refused));
}

/** Writes a seal into the stores, as another program or a restored backup has it. */
async function putSeal(segment: number, value: Uint8Array): Promise<void> {
  const client = await bed.client();
  const txn = await bed.run(client.begin());
  txn.put(bed.keys.seal(segment), value);
  await bed.run(txn.commit());
}

describe('the birth of an epoch', () => {
  test('is in its seals, also in those that end its segments, and lies above the birth of the epoch before', async () => {
    for (const [at, number] of [1, 2, 3].entries()) {
      const seal = sealOf(number, BigInt(10 + number));
      const storage = await bed.openSealed(seal, { segmentBytes: 200 });
      for (let position = 1; position <= 6; position += 1) {
        expect(await bed.append(storage, batchOf(6 * at + position), seal)).toBe('committed');
      }
    }
    const births = new Map<number, Set<bigint | undefined>>();
    for (const { seal, birth } of sealsOf()) births.set(seal.epoch, (births.get(seal.epoch) ?? new Set()).add(birth));
    const each = [1, 2, 3].map((number) => [...births.get(number)!]);
    expect(each.map(({ length }) => length)).toEqual([1, 1, 1]);
    const flat = each.flat().map((birth) => birth!);
    expect(flat[0]! < flat[1]! && flat[1]! < flat[2]!).toBe(true);
    expect(sealsOf().length).toBeGreaterThan(6);
  });

  test('is a timestamp of the takeover: a member that led before leads again, whatever it has fetched ahead', async () => {
    const storage = await bed.openSealed();
    await bed.append(storage, batchOf(1));
    await bed.clock.pass(MINUTE);
    await bed.openSealed(second);
    await bed.clock.pass(100);
    expect(await bed.run(storage.log.seal(sealOf(3)))).toBe(2);
    const births = sealsOf().map(({ birth }) => birth!);
    expect(births).toEqual([...births].sort((left, right) => (left < right ? -1 : 1)));
  });

  test('that an older program did not write forbids nothing', async () => {
    const storage = await bed.openSealed();
    await bed.append(storage, batchOf(1));
    const old = encodeSeal({ seal: second, opener: 77n, begin: undefined, birth: undefined }).slice(0, 68);
    const view = new DataView(old.buffer);
    view.setUint16(6, 68, true);
    view.setUint32(8, crcOf(old), true);
    await putSeal(2, old);
    const successor = await bed.openSealed(sealOf(3));
    expect(await bed.read(successor)).toEqual([1]);
    expect(sealsOf().map(({ birth }) => birth !== undefined)).toEqual([true, false, true]);
  });
});

describe('timestamps that went back', () => {
  /** A leader of epoch 1 that wrote `batches`, one each minute. */
  async function led(batches: number): Promise<bigint> {
    // The cluster is older than the time to which PD goes back, so that a node starts.
    await bed.open();
    await bed.clock.pass(2 * HOUR);
    const storage = await bed.openSealed();
    for (let position = 1; position <= batches; position += 1) {
      await bed.append(storage, batchOf(position));
      await bed.clock.pass(MINUTE);
    }
    return sealsOf()[0]!.birth!;
  }

  test('below the birth of the epoch before are refused with both values, and nothing is sealed', async () => {
    const birth = await led(10);
    bed.cluster.pd.goBack(10 * MINUTE + 30_000);
    const refusal = await refusalOf(second);
    expect(refusal?.birth).toBe(birth);
    expect(refusal?.timestamp).toBeLessThan(birth);
    expect(refusal?.message).toContain('is not above it');
    expect(refusal?.message).toContain(`${birth} (`);
    expect(refusal?.message).toContain(`${refusal?.timestamp} (`);
    expect(sealsOf()).toHaveLength(1);
    // As soon as PD has passed what it allocated before, the same takeover succeeds, and lacks nothing.
    await bed.clock.pass(11 * MINUTE);
    const successor = await bed.openSealed(sealOf(3));
    expect(await bed.read(successor)).toEqual(batchOf(1, 10).records.map((_, at) => at + 1));
  });

  test('to between that birth and the last batch are refused: who led by them would not see that batch', async () => {
    const birth = await led(10);
    bed.cluster.pd.goBack(5 * MINUTE);
    const refusal = await refusalOf(second);
    expect(refusal?.birth).toBe(birth);
    expect(refusal?.timestamp).toBeGreaterThan(birth);
    expect(refusal?.message).toMatch(/epoch 1 was born .* does not show the batch at \d+/);
    expect(sealsOf()).toHaveLength(1);
    await bed.clock.pass(6 * MINUTE);
    const successor = await bed.openSealed(sealOf(3));
    expect(await bed.read(successor)).toHaveLength(10);
  });

  test('behind a segment that its writer has ended are refused although the seal shows an older birth', async () => {
    await bed.open();
    await bed.clock.pass(2 * HOUR);
    const storage = await bed.openSealed(first, { segmentBytes: 100 });
    for (let position = 1; position <= 10; position += 1) {
      await bed.append(storage, batchOf(position));
      await bed.clock.pass(MINUTE);
    }
    const before = sealsOf().length;
    bed.cluster.pd.goBack(5 * MINUTE);
    expect((await refusalOf(second))?.message).toMatch(/does not show (the seal of segment|the batch at) \d+/);
    expect(sealsOf()).toHaveLength(before);
  });

  test('are refused behind the seal as well, where the batch that they hide came before it', async () => {
    await bed.open();
    await bed.clock.pass(2 * HOUR);
    const storage = await bed.openSealed();
    await bed.clock.pass(10 * MINUTE);
    await bed.read(await bed.open()); // so that the stores write nothing below this time
    bed.cluster.pd.goBack(5 * MINUTE);
    // The seal is under way for half a second, in which the leader before appends.
    let appended: Promise<{ readonly kind: string }> | undefined;
    bed.cluster.script(({ command }) => {
      if (command !== 'Prewrite' || appended !== undefined) return undefined;
      appended = Promise.resolve().then(() => storage.log.append(batchOf(1), first));
      return { kind: 'delay', ms: 500 };
    });
    const refusal = await refusalOf(second);
    expect(await appended).toMatchObject({ kind: 'committed' });
    expect(refusal?.message).toMatch(/epoch 1 was born .* does not show the batch at 1/);
    expect(sealsOf()).toHaveLength(2);
    await bed.clock.pass(6 * MINUTE);
    expect(await bed.read(await bed.openSealed(sealOf(3)))).toEqual([1]);
  });

  test('do not show what a leader from before appends: who started meanwhile does not take over from it', async () => {
    await bed.open();
    await bed.clock.pass(2 * HOUR);
    const storage = await bed.openSealed();
    await bed.clock.pass(10 * MINUTE);
    await bed.read(await bed.open()); // so that the stores write nothing below this time
    bed.cluster.pd.goBack(5 * MINUTE);
    const candidate = await bed.open();
    expect(await bed.append(storage, batchOf(1))).toBe('committed');
    expect((await refusalOf(second, candidate))?.message).toContain('does not show the batch at 1');
    // The leader before still holds the log.
    expect(sealsOf()).toHaveLength(1);
    expect(await bed.append(storage, batchOf(2))).toBe('committed');
    await bed.clock.pass(6 * MINUTE);
    expect(await bed.run(candidate.log.seal(sealOf(3)))).toBe(3);
    expect(await bed.read(candidate)).toEqual([1, 2]);
  });

  test('end a start that would take what it does not see for damage or for another log', async () => {
    const birth = await led(10);
    bed.cluster.pd.goBack(5 * MINUTE);
    const error = await bed.open().catch((reason: unknown) => reason);
    expect(error).toMatchObject({ name: 'StorageOpenError', reason: 'not-accessible', cause: { birth } });
    await bed.clock.pass(6 * MINUTE);
    expect(await bed.read(await bed.open())).toHaveLength(10);
  });

  test('to before the cluster are told at the start', async () => {
    await led(1);
    bed.cluster.pd.goBack(3 * HOUR);
    const starting = bed.open();
    await expect(starting).rejects.toThrow(StorageOpenError);
    await expect(starting).rejects.toThrow(/PD went back/);
  });
});

test.each([
  { when: 'before it starts', starts: false },
  { when: 'while it runs', starts: true },
])(
  'a member of a cluster that is restored beside a newer seal $when is refused, with the birth in that seal',
  async ({ starts }) => {
    const storage = await bed.openSealed();
    await bed.append(storage, batchOf(1));
    const running = starts ? await bed.open() : undefined;
    const client = await bed.client();
    const birth = (await bed.run(client.timestamp())) + (BigInt(HOUR) << 18n);
    await putSeal(2, encodeSeal({ seal: { epoch: epoch(7), holder: 5n }, opener: 5n, begin: undefined, birth }));
    const refusal = await refusalOf(sealOf(8), running);
    expect(refusal?.birth).toBe(birth);
    expect(refusal?.message).toMatch(/epoch 7 was born at .* is not above it/);
    expect(sealsOf()).toHaveLength(2);
    await bed.clock.pass(2 * HOUR);
    const later = await bed.openSealed(sealOf(9));
    expect(await bed.run(later.log.heldBy(sealOf(9), never))).toBe(true);
  },
);
