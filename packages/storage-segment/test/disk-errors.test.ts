import { type LogPosition, logPosition } from '@engram/core';
import { DiskError, type DiskFault, type DiskOperation, diskOperations } from '@engram/sim';
import { type Storage, StorageCorruptError, StorageFailedError, StorageOpenError } from '@engram/storage';
import { never, record, sealOf, stream } from '@engram/storage/testing';
import { describe, expect, test } from 'vitest';
import type { SegmentStorage } from '../src/segment-storage.ts';
import { CRASHED, SimMachine } from './sim-machine.ts';

const SEED = Number(process.env['SEED'] ?? Date.now() % 2 ** 31);

/** What one life acknowledged. Each entry is kept up to date as soon as the storage has said so. */
interface Acknowledged {
  end: number;
  sealed: number;
  checkpoint: number;
}

/** The records of an append. */
const BATCH = 3;

const range = (from: number, to: number): LogPosition[] =>
  Array.from({ length: to - from }, (_, at) => logPosition(from + at));

/** A life that makes every kind of call: segments, seals, checkpoints, drops, the cleaner. Goes on from what is there. */
async function live(storage: SegmentStorage, told: Acknowledged): Promise<void> {
  await storage.log.seal(sealOf(told.sealed + 1));
  told.sealed += 1;
  for (let batch = 0; batch < 10; batch += 1) {
    await append(storage, told, BATCH);
    if (batch !== 6) continue;
    const covered = told.end;
    await storage.values.saveCheckpoint(logPosition(covered), stream([record(covered)]));
    told.checkpoint = covered;
    await storage.values.drop(range(1, covered).filter((position) => position % 4 !== 0));
    await storage.values.reclaim!();
  }
  await storage[Symbol.asyncDispose]();
}

async function append(storage: Storage, told: Acknowledged, count: number): Promise<void> {
  const records = range(told.end, told.end + count).map((position) => record(position, 300));
  const outcome = await storage.log.append({ first: logPosition(told.end), records }, sealOf(told.sealed));
  if (outcome.kind !== 'committed') throw outcome.kind === 'uncertain' ? outcome.cause : new Error('fenced by nobody');
  told.end += count;
}

/** Opens without faults, and finds what was acknowledged; of what was under way, all or nothing. */
async function verify(machine: SimMachine, told: Acknowledged): Promise<void> {
  await machine.live(async (storage) => {
    // The seal that failed may have been made.
    const end = await storage.log.seal(sealOf(told.sealed)).catch(() => storage.log.seal(sealOf(told.sealed + 1)));
    expect([told.end, told.end + BATCH]).toContain(end);
    const checkpoint = await storage.values.loadCheckpoint();
    const from = checkpoint?.from ?? 1;
    expect(from).toBeGreaterThanOrEqual(told.checkpoint);
    if (checkpoint !== undefined) {
      for await (const chunk of checkpoint.chunks(never)) expect(Buffer.compare(chunk, record(from))).toBe(0);
    }
    let position: number = from;
    for await (const { records } of storage.log.read(logPosition(from), never)) {
      for (const bytes of records) {
        expect(Buffer.compare(bytes, record(position, 300)), `record ${position}`).toBe(0);
        position += 1;
      }
    }
    expect(position).toBe(end);
    const kept = range(1, told.end).filter((at) => at % 4 === 0 || at >= from);
    for (const [at, bytes] of (await storage.values.getMany(kept, never)).entries()) {
      expect(Buffer.compare(bytes, record(kept[at]!, 300)), `record ${kept[at]}`).toBe(0);
    }
  });
}

/** The faults at each call of each operation, in a life that makes this many. */
function faultsOf(asked: (operation: DiskOperation) => number): DiskFault[] {
  return diskOperations.flatMap((operation) =>
    (['EIO', 'ENOSPC'] as const).flatMap((code) =>
      Array.from({ length: asked(operation) }, (_, after) => ({ operation, code, after })),
    ),
  );
}

/** What the disk cannot read is damage, until the next opening. */
const isNamed = (error: unknown, { operation, code }: DiskFault): boolean =>
  error instanceof StorageFailedError ||
  error instanceof StorageOpenError ||
  error instanceof DiskError ||
  (error instanceof StorageCorruptError && code === 'EIO' && (operation === 'open' || operation === 'read'));

describe.each([
  { lives: 0, name: 'the first life of a storage' },
  { lives: 1, name: 'a later life' },
])('$name', ({ lives }) => {
  test(`ends by name, or not at all, whichever call fails, and loses nothing (SEED=${SEED})`, async () => {
    const begun = async (): Promise<{ machine: SimMachine; told: Acknowledged }> => {
      const machine = new SimMachine(SEED);
      const told = { end: 1, sealed: 0, checkpoint: 1 };
      for (let life = 0; life < lives; life += 1) await machine.live((storage) => live(storage, told));
      return { machine, told };
    };
    const { machine: sound, told: soundTold } = await begun();
    expect(await sound.live((storage) => live(storage, soundTold))).not.toBe(CRASHED);
    const faults = faultsOf((operation) => sound.disk.asked(operation));
    let [ended, failed] = [0, 0];
    for (const fault of faults) {
      const { machine, told } = await begun();
      try {
        await machine
          .live((storage) => live(storage, told), { fault })
          .catch((error: unknown) => {
            if (!isNamed(error, fault)) throw error;
            ended += 1;
          });
        failed += machine.disk.failed > 0 ? 1 : 0;
        await verify(machine, told);
      } catch (error) {
        throw new Error(`SEED=${SEED} ${fault.code} at call ${fault.after} of ${fault.operation}`, { cause: error });
      }
    }
    // A life whose fault never happened proves nothing.
    expect(failed).toBeGreaterThan(faults.length * 0.9);
    expect(ended).toBeGreaterThan(faults.length / 2);
    for (const operation of ['open', 'create', 'write', 'sync', 'rename', 'mkdir', 'sync-names', 'meta'] as const) {
      expect(
        faults.some((fault) => fault.operation === operation),
        operation,
      ).toBe(true);
    }
  });
});

test(`what a start has found of an append that the disk refused stays so in all starts after it (SEED=${SEED})`, async () => {
  const batchesOf = async (storage: Storage): Promise<number> => {
    let found = 0;
    for await (const _ of storage.log.read(logPosition(1), never)) found += 1;
    return found;
  };
  const runs = 300;
  let arrived = 0;
  for (let run = 0; run < runs; run += 1) {
    const machine = new SimMachine(SEED + run);
    const told = { end: 1, sealed: 1, checkpoint: 1 };
    await machine.live(
      async (storage) => {
        await storage.log.seal(sealOf(1));
        await append(storage, told, 1);
        machine.disk.arm(undefined, { operation: 'write-durable', code: 'EIO', after: 0 });
        await expect(append(storage, told, BATCH)).rejects.toThrow(StorageFailedError);
      },
      { end: 'kill' },
    );
    const found = await machine.live(batchesOf);
    if (found === 2) arrived += 1;
    expect(await machine.live(batchesOf), `SEED=${SEED + run}`).toBe(found);
  }
  // The system's cache has all of some of them.
  expect(arrived).toBeGreaterThan(runs / 20);
});
