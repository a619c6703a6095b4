import { sealOf } from '@engram/storage/testing';
import { describe, expect, test } from 'vitest';
import { batchOf, first, SimBed } from './sim-bed.ts';

// Stores without space refuse writes for as long as they have none, but they answer reads.

const later = sealOf(2, 9n);
const full = { kind: 'region-error', error: { diskFull: { reason: 'full' } } } as const;

/** A storage that holds the log and has written the positions 1 to 4. */
async function holder() {
  const bed = new SimBed();
  const options = { appendTimeoutMs: 8_000 };
  const old = await bed.openSealed(first, options);
  expect(await bed.append(old, batchOf(1, 4))).toBe('committed');
  return { bed, old, options };
}

/** The outcome of an append, and the seconds that it took. */
async function timed(bed: SimBed, append: () => Promise<string>): Promise<readonly [string, number]> {
  const begunMs = bed.clock.nowMs();
  const outcome = await append();
  return [outcome, Math.floor((bed.clock.nowMs() - begunMs) / 1_000)];
}

describe('where all stores are full', () => {
  test.each([
    ['learns in two seconds', true],
    ['learns in two seconds while PD is silent', false],
  ])('a deposed holder of the log %s that its batch will never be there', async (_, pdAnswers) => {
    const { bed, old, options } = await holder();
    await bed.openSealed(later, { ...options, member: 2n });
    bed.cluster.script(({ command }) => (command === 'Prewrite' ? full : undefined));
    if (!pdAnswers) for (const address of bed.cluster.pdAddresses) bed.cluster.paused.add(address);
    const [outcome, seconds] = await timed(bed, () => bed.append(old, batchOf(5, 8)));
    expect(outcome).toBe('fenced');
    expect(seconds).toBeLessThan(2);
  });

  test('a holder that is deposed while it waits learns of it in two seconds', async () => {
    const { bed, old, options } = await holder();
    const next = await bed.open({ ...options, member: 2n });
    let isFull = true;
    // The seal of the other one passes.
    bed.cluster.script(({ command }) => (command === 'Prewrite' && isFull ? full : undefined));
    const appending = old.log.append(batchOf(5, 8), first);
    await bed.clock.run(new Promise<void>((resolve) => bed.clock.after(2_500, resolve)));
    isFull = false;
    await bed.run(next.log.seal(later));
    isFull = true;
    const [outcome, seconds] = await timed(bed, async () => (await bed.run(appending)).kind);
    expect(outcome).toBe('fenced');
    expect(seconds).toBeLessThan(2);
  });

  test('an append of the holder is uncertain when its time is over', async () => {
    const { bed, old } = await holder();
    bed.cluster.script(({ command }) => (command === 'Prewrite' ? full : undefined));
    const [outcome, seconds] = await timed(bed, () => bed.append(old, batchOf(5, 8)));
    expect([outcome, seconds]).toEqual(['uncertain', 8]);
  });
});

test('a batch that is there although its store answered that it is full is found behind the seal of another storage', async () => {
  const { bed, old, options } = await holder();
  const next = await bed.open({ ...options, member: 2n });
  let [executed, isFull] = [true, true];
  bed.cluster.script(({ command }) => {
    if (command !== 'Prewrite' || !isFull) return undefined;
    const fault = { ...full, executed };
    executed = false;
    return fault;
  });
  const appending = old.log.append(batchOf(5, 8), first);
  await bed.clock.run(new Promise<void>((resolve) => bed.clock.after(100, resolve)));
  isFull = false;
  expect(await bed.run(next.log.seal(later))).toBe(9);
  isFull = true;
  const [outcome, seconds] = await timed(bed, async () => (await bed.run(appending)).kind);
  expect(outcome).toBe('committed');
  expect(seconds).toBeLessThan(2);
});

test('a batch and a seal behind it are found where they come between the two reads of a look', async () => {
  const { bed, old, options } = await holder();
  const next = await bed.open({ ...options, member: 2n });
  let [reads, isFull] = [0, true];
  bed.cluster.script(({ command, request }) => {
    if (!isFull) return undefined;
    // The attempt that is made behind the first read is executed.
    if (command === 'Prewrite') return { ...full, executed: reads > 0 };
    if (command !== 'Get' || bed.keys.parse((request as { key: Uint8Array }).key) === undefined) return undefined;
    reads += 1;
    return reads === 2 ? { kind: 'delay', ms: 900 } : undefined;
  });
  const appending = old.log.append(batchOf(5, 8), first);
  await bed.clock.run(new Promise<void>((resolve) => bed.clock.after(1_600, resolve)));
  expect(reads).toBe(2);
  isFull = false;
  expect(await bed.run(next.log.seal(later))).toBe(9);
  expect((await bed.run(appending)).kind).toBe('committed');
});

describe('where the stores answer no write', () => {
  test.each([
    ['is not executed', false, 'fenced'],
    ['is executed', true, 'committed'],
  ])('a holder that is deposed while its append %s learns of it in two seconds', async (_, executed, expected) => {
    const { bed, old, options } = await holder();
    const next = await bed.open({ ...options, member: 2n });
    let isSilent = true;
    bed.cluster.script(({ command }) =>
      command === 'Prewrite' && isSilent ? { kind: 'silence', executed } : undefined,
    );
    const appending = old.log.append(batchOf(5, 8), first);
    await bed.clock.run(new Promise<void>((resolve) => bed.clock.after(100, resolve)));
    isSilent = false;
    await bed.run(next.log.seal(later));
    isSilent = true;
    const [outcome, seconds] = await timed(bed, async () => (await bed.run(appending)).kind);
    expect(outcome).toBe(expected);
    expect(seconds).toBeLessThan(2);
  });
});
