import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type CrashKind, Prng } from '@engram/sim';
import { appendRecords, never, record, sealOf } from '@engram/storage/testing';
import { logPosition } from '@engram/core';
import { reasonOf } from '@engram/storage/contract';
import { expect, test } from 'vitest';
import { SegmentBed } from './segment-bed.ts';
import { CRASHED, SimMachine } from './sim-machine.ts';

const SEED = Number(process.env['SEED'] ?? Date.now() % 2 ** 31);
const RUNS = Number(process.env['RUNS'] ?? 400);

test(`wherever the first starts end, the next one opens and keeps what it acknowledges (SEED=${SEED})`, async () => {
  let [crashes, removed] = [0, 0];
  for (let run = 0; run < RUNS; run += 1) {
    const prng = new Prng(SEED + run);
    const machine = new SimMachine(SEED + run);
    for (let life = 1 + prng.below(4); life > 0; life -= 1) {
      const kind: CrashKind = prng.chance(0.8) ? 'power' : 'kill';
      const crash = { steps: prng.below(prng.pick([30, 100])), kind };
      if ((await machine.live(async () => {}, { crash })) === CRASHED) crashes += 1;
    }
    try {
      await machine.live(async (storage) => {
        await storage.log.seal(sealOf(1));
        await appendRecords(storage, 1, [1]);
      });
      await machine.live(async (storage) => {
        expect(await storage.log.seal(sealOf(1))).toBe(2);
        const [bytes] = await storage.values.getMany([logPosition(1)], never);
        expect(Buffer.compare(bytes!, record(1))).toBe(0);
      });
    } catch (error) {
      throw new Error(`SEED=${SEED + run} RUNS=1`, { cause: error });
    }
    if (machine.logger.warnings.some((text) => text.includes('nothing was acknowledged'))) removed += 1;
  }
  if (RUNS < 100) return;
  expect(crashes).toBeGreaterThan(RUNS);
  // Otherwise no run met a database that a loss of power had left unfinished.
  expect(removed).toBeGreaterThan(0);
});

test('a first start that is killed, and one behind it that loses power, leave what the next one opens', {
  timeout: 60_000,
}, async () => {
  for (let killed = 0; killed < 60; killed += 1) {
    for (let lost = 0; lost < 60; lost += 1) {
      const machine = new SimMachine(1_000 * killed + lost);
      await machine.live(async () => {}, { crash: { steps: killed, kind: 'kill' } });
      await machine.live(async () => {}, { crash: { steps: lost, kind: 'power' } });
      const sealed = await machine.live(async (storage) => await storage.log.seal(sealOf(1)));
      expect(sealed, `killed after ${killed} steps, without power after ${lost}`).toBe(1);
    }
  }
});

const CURRENT = 'MANIFEST-000001\n';

test.each([
  { files: { 'meta/CURRENT': CURRENT, 'meta/MANIFEST-000001': '' }, why: 'in its place, by an earlier program' },
  { files: { 'meta/MANIFEST-000001': '', 'meta/LOCK': '' }, why: 'in its place, and not to its end' },
  { files: { 'meta.new/CURRENT': CURRENT, 'meta.new/MANIFEST-000001': '' }, why: 'under its first name' },
  { files: { 'meta.new/CURRENT': CURRENT, 'meta/LOCK': '' }, why: 'in both places' },
  {
    files: { 'meta.new/CURRENT': '', '0000000000000001.tmp': '' },
    why: 'with the file of a segment that was being made',
  },
])('a manifest that a loss of power has left is made anew: $why', async ({ files }) => {
  await using bed = await SegmentBed.make();
  for (const [name, text] of Object.entries(files)) {
    await mkdir(join(bed.path, name, '..'), { recursive: true });
    await writeFile(join(bed.path, name), text);
  }
  const storage = await bed.open();
  expect(await storage.log.seal(sealOf(1))).toBe(1);
  expect(await readdir(bed.path)).not.toContain('meta.new');
});

test('a manifest that is damaged beside a segment, or beside the mark, is not made anew', async () => {
  for (const name of ['0000000000000001.seg', 'ACKNOWLEDGED', '0000000000000001.ckpt']) {
    await using bed = await SegmentBed.make();
    await mkdir(join(bed.path, 'meta'));
    await writeFile(join(bed.path, 'meta/CURRENT'), CURRENT);
    await writeFile(join(bed.path, 'meta/MANIFEST-000001'), '');
    await writeFile(join(bed.path, name), '');
    expect(await reasonOf(bed, bed.path), name).toBe('corrupt');
    expect((await readdir(bed.path)).sort(), name).toEqual([name, 'meta'].sort());
    expect((await readdir(join(bed.path, 'meta'))).includes('MANIFEST-000001'), name).toBe(true);
    expect(await readFile(join(bed.path, 'meta/CURRENT'), 'utf8'), name).toBe(CURRENT);
    expect(bed.logger.warnings, name).toEqual([]);
  }
});

test('of two first starts at the same time one opens, or both say why they do not', async () => {
  for (let run = 0; run < 20; run += 1) {
    await using bed = await SegmentBed.make();
    const opened = await Promise.allSettled([bed.open(), bed.open()]);
    const storages = opened.filter(({ status }) => status === 'fulfilled');
    expect(storages.length).toBeLessThan(2);
    for (const one of opened) if (one.status === 'fulfilled') await one.value[Symbol.asyncDispose]();
    const storage = await bed.open();
    expect(await storage.log.seal(sealOf(1))).toBe(1);
  }
});
