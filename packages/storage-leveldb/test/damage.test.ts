import { readdir, readFile, rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { type LogPosition, logPosition } from '@engram/core';
import { appendRecords, record, sealOf, stream, type CheckRequest } from '@engram/storage/testing';
import { type Damage, damages, DamagedCopies, flip, zero } from '@engram/storage/contract';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LevelBed } from './level-bed.ts';

const at = logPosition;

/**
 * Makes a closed database with data in each kind of file: tables with live and dropped records, a checkpoint, and a log whose
 * last 32 KiB hold several batches. 20 records of every 100 are large enough to fill blocks of their own.
 */
async function makeDatabase(bed: LevelBed): Promise<Omit<CheckRequest, 'path'>> {
  const chunks = [
    [9001, 3000],
    [9002, 100],
    [9003, 5000],
  ] as const;
  let storage = await bed.open();
  await storage.log.seal(sealOf(1));
  await appendRecords(storage, 1, [100, 100, 100]);
  await storage.values.saveCheckpoint(at(250), stream([record(9000, 500)]));
  storage = await bed.reopen(storage);
  await appendRecords(storage, 301, [50, 1, 49]);
  await storage.values.saveCheckpoint(at(380), stream(chunks.map(([seed, length]) => record(seed, length))));
  const dropped: LogPosition[] = [];
  for (let position = 1; position < 380; position += 3) dropped.push(at(position));
  await storage.values.drop(dropped);
  storage = await bed.reopen(storage);
  await appendRecords(storage, 401, [3, 1, 1, 20, 2, 1, 5, 40, 1, 1, 1]);
  const end = await storage.log.seal(sealOf(1));
  await storage[Symbol.asyncDispose]();
  return { end, from: 380, chunks, dropped };
}

/** The files that hold data, and the files that name them. */
async function dataFiles(path: string): Promise<string[]> {
  const names = await readdir(path, { recursive: true });
  return names.filter((name) => /^state$|^checkpoint|\.(?:log|ldb|sst)$|MANIFEST|CURRENT$/.test(name)).sort();
}

describe('damage to the files of a closed database', () => {
  let bed: LevelBed;
  let copies: DamagedCopies;
  let end: number;
  beforeAll(async () => {
    bed = await LevelBed.make();
    const expected = await makeDatabase(bed);
    end = expected.end;
    copies = new DamagedCopies(bed, expected, new URL('./check-child.ts', import.meta.url));
  });
  afterAll(async () => {
    copies[Symbol.dispose]();
    await bed[Symbol.asyncDispose]();
  });

  const damaged = (damage: Damage): Promise<string> => copies.make(damage);

  async function outcome(path: string): Promise<string> {
    const { result, warnings } = await copies.outcome(path);
    bed.logger.warnings.push(...warnings);
    return result;
  }

  test('none leaves everything', async () => {
    expect(await outcome(await damaged(async () => {}))).toBe('whole');
  });

  test('is always noticed, or does no harm', async () => {
    const seen = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(fc.nat(), damages, async (pick, damage) => {
        const path = await damaged(async (copy) => {
          const files = await dataFiles(copy);
          await damage(join(copy, files[pick % files.length]!));
        });
        const result = await outcome(path);
        // LevelDB's own assertions end the process if a block does not parse.
        expect(result).toMatch(/^whole|^refused|^died: SIGABRT .*Assertion/s);
        const kind = result.split(':')[0]!;

        seen.set(kind, (seen.get(kind) ?? 0) + 1);
      }),
      { numRuns: Number(process.env['DAMAGE_RUNS'] ?? 120) },
    );
    if (process.env['DAMAGE_RUNS'] !== undefined) console.log(seen);
    // Otherwise no damage hit a file that matters, and the property would show nothing.
    expect(seen.get('refused at opening')).toBeGreaterThan(0);
    expect((seen.get('refused on reading') ?? 0) + (seen.get('whole') ?? 0)).toBeGreaterThan(0);
  });

  test('any one byte of the log that LevelDB recovers is noticed', async () => {
    const log = (await dataFiles(bed.path)).filter((name) => name.endsWith('.log')).at(-1)!;
    const { length } = await readFile(join(bed.path, log));
    const results = new Set<string>();
    // Enough places to hit headers, keys and values of small and large batches.
    for (let offset = 0; offset < length; offset += Math.floor(length / 40)) {
      const result = await outcome(await damaged((copy) => flip(offset, 0x10)(join(copy, log))));
      results.add(result.split(':')[0]!);
    }
    // If later batches survive, opening succeeds, and reading finds the gap.
    expect([...results].sort()).toEqual(['refused at opening', 'refused on reading']);
  });

  test('the log cut anywhere is noticed: all of it was acknowledged', async () => {
    const log = (await dataFiles(bed.path)).filter((name) => name.endsWith('.log')).at(-1)!;
    const { length } = await readFile(join(bed.path, log));
    for (const keep of [0, 1, 7, Math.floor(length / 3), Math.floor(length / 2), length - 1]) {
      const path = await damaged((copy) => truncate(join(copy, log), keep));
      expect(await outcome(path)).toMatch(/^refused at opening/);
    }
  });

  test('a missing file is noticed', async () => {
    for (const name of await dataFiles(bed.path)) {
      const result = await outcome(await damaged((copy) => rm(join(copy, name))));
      // A missing table does no harm if LevelDB was about to remove it.
      if (name.endsWith('.ldb')) expect(result, name).toMatch(/^whole|^refused/);
      else expect(result, name).toMatch(/^refused/);
    }
  });

  test('a checkpoint that begins with zeros is none with an empty chunk', async () => {
    const checkpoint = (await dataFiles(bed.path)).find((name) => name.startsWith('checkpoint'))!;
    for (const length of [8, 64]) {
      const path = await damaged((copy) => zero(0, length)(join(copy, checkpoint)));
      expect(await outcome(path)).toMatch(/^refused/);
    }
  });

  test('names the directory and what is gone', async () => {
    const log = (await dataFiles(bed.path)).filter((name) => name.endsWith('.log')).at(-1)!;
    const path = await damaged((copy) => truncate(join(copy, log), 0));
    await expect(bed.open(path)).rejects.toThrow(`the records from 401 to ${end - 1} were acknowledged`);
    await expect(bed.open(path)).rejects.toThrow(path);
    await rm(path, { recursive: true });
  });

  test('a batch that is missing in the middle is noticed without the mark beside the database', async () => {
    const log = (await dataFiles(bed.path)).filter((name) => name.endsWith('.log')).at(-1)!;
    // The large batch of 40 records spans blocks, so LevelDB continues to read the log after it.
    const path = await damaged(async (copy) => {
      await rm(join(copy, 'acknowledged'));
      await flip(40_000, 0xff)(join(copy, log));
    });
    expect(await outcome(path)).toMatch(/^refused/);
  });

  test('damaged marks say nothing, and harm nothing', async () => {
    const path = await damaged(async (copy) => {
      for (const place of [0, 4096]) await flip(place + 9, 0xff)(join(copy, 'acknowledged'));
    });
    const before = bed.logger.warnings.length;
    expect(await outcome(path)).toBe('whole');
    expect(bed.logger.warnings.slice(before).join()).toMatch(/mark .* is damaged/);
  });
});
