import { sealOf } from '@engram/storage/testing';
import { logPosition } from '@engram/core';
import { Prng } from '@engram/sim';
import {
  type FaultPlan,
  InjectedFault,
  MemoryStorage,
  StorageClosedError,
  StorageCorruptError,
  StorageFailedError,
  StorageFencedError,
  StorageOpenError,
  seededFaults,
} from '@engram/storage';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

const at = logPosition;
const first = sealOf(1);
const never = new AbortController().signal;
const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);

async function sealed(plan: FaultPlan = {}): Promise<MemoryStorage> {
  const storage = new MemoryStorage(plan);
  await storage.log.seal(first);
  return storage;
}

async function readAll(storage: MemoryStorage): Promise<number[]> {
  const seen: number[] = [];
  for await (const batch of storage.log.read(at(1), never)) seen.push(...batch.records.map((record) => record[0]!));
  return seen;
}

/** Holds back the operations of one kind until `open` is called. */
function heldGate(held: string): { readonly plan: FaultPlan; open(): void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { plan: { gate: (operation) => (operation === held ? opened : undefined) }, open: () => open() };
}

async function* stream(...chunks: Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

describe('a crash', () => {
  test.each([
    { keepAppend: false, left: [], why: 'it was not durable yet' },
    { keepAppend: true, left: [7, 8], why: 'it just was, though nobody was told' },
  ])('with an append under way leaves $left: $why', async ({ keepAppend, left }) => {
    const gate = heldGate('append');
    const storage = await sealed(gate.plan);
    const append = storage.log.append({ first: at(1), records: [bytes(7), bytes(8)] }, first);
    storage.crash(keepAppend);
    const after = storage.reopen();
    // The crashed storage must not affect the disk of the next one.
    gate.open();
    await expect(append).rejects.toThrow(StorageClosedError);
    expect(await readAll(after)).toEqual(left);
    expect(await after.log.seal(first)).toBe(left.length + 1);
  });

  test('keeps what was committed, the seal and the checkpoint', async () => {
    const storage = await sealed();
    await storage.log.seal(sealOf(4));
    await storage.log.append({ first: at(1), records: [bytes(7)] }, sealOf(4));
    await storage.values.saveCheckpoint(at(2), stream(bytes(1), bytes(2)));
    storage.crash();
    const after = storage.reopen();
    expect(await readAll(after)).toEqual([7]);
    expect((await after.values.loadCheckpoint())?.from).toBe(2);
    expect(await after.log.append({ first: at(2), records: [bytes(8)] }, sealOf(3))).toEqual({ kind: 'fenced' });
  });

  test('takes back drops since the last append, and only those', async () => {
    const storage = await sealed();
    await storage.log.append({ first: at(1), records: [bytes(1), bytes(2), bytes(3)] }, first);
    await storage.values.saveCheckpoint(at(4), stream());
    await storage.values.drop([at(1)]);
    await storage.log.append({ first: at(4), records: [bytes(4)] }, first);
    await storage.values.drop([at(2)]);
    storage.crash();
    const after = storage.reopen();
    expect(await after.values.getMany([at(2), at(3)], never)).toEqual([bytes(2), bytes(3)]);
    await expect(after.values.getMany([at(1)], never)).rejects.toThrow(StorageCorruptError);
  });

  test('in the middle of a checkpoint leaves the one before', async () => {
    const gate = heldGate('save-checkpoint');
    const storage = await sealed();
    await storage.values.saveCheckpoint(at(1), stream(bytes(1)));
    await storage[Symbol.asyncDispose]();
    const second = storage.reopen(gate.plan);
    const saving = second.values.saveCheckpoint(at(1), stream(bytes(2)));
    second.crash();
    gate.open();
    await expect(saving).rejects.toThrow(StorageClosedError);
    const checkpoint = await second.reopen().values.loadCheckpoint();
    const seen: Uint8Array[] = [];
    for await (const chunk of checkpoint!.chunks(never)) seen.push(chunk);
    expect(seen).toEqual([bytes(1)]);
  });

  test('of a process that goes on: a second storage is refused', async () => {
    const storage = await sealed();
    expect(() => storage.reopen()).toThrow(StorageOpenError);
  });
});

describe('faults', () => {
  test.each([
    { fault: 'uncertain-there', left: [7], why: 'the answer was lost' },
    { fault: 'uncertain-lost', left: [], why: 'the request was lost' },
  ] as const)('$fault leaves $left, and the log tells: $why', async ({ fault, left }) => {
    let armed = true;
    const storage = await sealed({ append: () => (armed ? fault : 'none') });
    const outcome = await storage.log.append({ first: at(1), records: [bytes(7)] }, first);
    expect(outcome.kind).toBe('uncertain');
    expect(await readAll(storage)).toEqual(left);
    const next = await storage.log.seal(first);
    expect(next).toBe(left.length + 1);
    armed = false;
    expect(await storage.log.append({ first: next, records: [bytes(9)] }, first)).toEqual({ kind: 'committed' });
  });

  test.each([
    { next: 'the same append', left: [7], why: 'it had arrived' },
    { next: 'its own seal', left: [7], why: 'a seal that holds the log already fences nothing' },
    { next: 'a later seal', left: [], why: 'the seal was first' },
  ])('uncertain-late shows to nobody before $next, which leaves $left: $why', async ({ next, left }) => {
    let armed = true;
    const storage = await sealed({ append: () => (armed ? 'uncertain-late' : 'none') });
    const batch = { first: at(1), records: [bytes(7)] };
    expect((await storage.log.append(batch, first)).kind).toBe('uncertain');
    expect(await readAll(storage)).toEqual([]);
    armed = false;
    if (next === 'the same append') expect(await storage.log.append(batch, first)).toEqual({ kind: 'committed' });
    else await storage.log.seal(next === 'a later seal' ? sealOf(2) : first);
    expect(await readAll(storage)).toEqual(left);
    const kind = left.length > 0 ? 'committed' : 'fenced';
    expect(await storage.log.append(batch, first)).toEqual({ kind });
  });

  test.each([
    { fault: 'failed-there', left: [7] },
    { fault: 'failed-lost', left: [] },
  ] as const)('$fault tells nothing until it is opened again', async ({ fault, left }) => {
    const storage = await sealed({ append: () => fault });
    const outcome = await storage.log.append({ first: at(1), records: [bytes(7)] }, first);
    expect(outcome.kind).toBe('uncertain');
    const again = storage.log.append({ first: at(1), records: [bytes(7)] }, first);
    await expect(again).rejects.toThrow(StorageFailedError);
    await expect(storage.log.seal(first)).rejects.toThrow(StorageFailedError);
    await expect(readAll(storage)).rejects.toThrow(StorageFailedError);
    await storage[Symbol.asyncDispose]();
    expect(await readAll(storage.reopen())).toEqual(left);
  });

  test('fenced by another node: this epoch never comes back', async () => {
    let fault: 'none' | 'fenced' = 'fenced';
    const storage = await sealed({ append: () => fault });
    expect(await storage.log.append({ first: at(1), records: [bytes(7)] }, first)).toEqual({ kind: 'fenced' });
    fault = 'none';
    expect(await storage.log.append({ first: at(1), records: [bytes(7)] }, first)).toEqual({ kind: 'fenced' });
    await expect(storage.log.seal(sealOf(2))).rejects.toThrow(StorageFencedError);
    expect(await storage.log.seal(sealOf(3))).toBe(1);
  });

  test('a seal overtakes an append that waits', async () => {
    const gate = heldGate('append');
    const storage = await sealed(gate.plan);
    const append = storage.log.append({ first: at(1), records: [bytes(7)] }, first);
    expect(await storage.log.seal(sealOf(2))).toBe(1);
    gate.open();
    expect(await append).toEqual({ kind: 'fenced' });
    expect(await readAll(storage)).toEqual([]);
  });

  test('a failing gate is the failure of the operation', async () => {
    const storage = await sealed({
      gate: async (operation) => {
        if (operation === 'get-many') throw new InjectedFault('injected: the disk is on fire');
      },
    });
    await expect(storage.values.getMany([], never)).rejects.toThrow(InjectedFault);
  });

  test('a lost record is damage, for gets and for replay', async () => {
    const storage = await sealed();
    await storage.log.append({ first: at(1), records: [bytes(1), bytes(2)] }, first);
    storage.disk.damage(at(2));
    await expect(storage.values.getMany([at(2)], never)).rejects.toThrow(/record 2 is missing/);
    await expect(readAll(storage)).rejects.toThrow(StorageCorruptError);
  });

  test('a seeded plan gives the same faults again, about as often as asked', async () => {
    const chances = { uncertainThere: 0.2, uncertainLost: 0.1, fenced: 0.1, failed: 0.3 };
    const run = (seed: number): string[] => {
      const plan = seededFaults(new Prng(seed), chances);
      return Array.from({ length: 400 }, () => [
        plan.append?.({ first: at(1), records: [] }, first) ?? '',
        plan.fail?.('read') === undefined ? 'read' : 'failed',
      ]).flat();
    };
    fc.assert(
      fc.property(fc.nat(), (seed) => {
        const faults = run(seed);
        expect(run(seed)).toEqual(faults);
        const share = (fault: string): number => faults.filter((other) => other === fault).length / 400;
        expect(share('none')).toBeGreaterThan(0.45);
        expect(share('none')).toBeLessThan(0.75);
        expect(share('uncertain-there')).toBeGreaterThan(0.08);
        expect(share('failed')).toBeGreaterThan(0.15);
        expect(share('failed-there')).toBe(0);
      }),
      { numRuns: 20 },
    );
  });
});
