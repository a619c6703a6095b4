import { expect, test } from 'vitest';
import { type RaceCounts, RaceSim } from './race-sim.ts';

const RUNS = Number(process.env['RUNS'] ?? 15);
const start = Number(process.env['SEED'] ?? Date.now() % 2 ** 32);

test(`whoever seals has all that was acknowledged, and nobody appends behind a seal (SEED=${start})`, async () => {
  const sums: RaceCounts = {
    committed: 0,
    fenced: 0,
    retried: 0,
    sealed: 0,
    sealsRefused: 0,
    splits: 0,
    transfers: 0,
    segments: 0,
    requests: 0,
    held: 0,
    lost: 0,
    read: 0,
    trimmed: 0,
    trims: 0,
    holds: 0,
  };
  for (let seed = start; seed < start + RUNS; seed += 1) {
    const sim = new RaceSim(seed);
    try {
      await sim.run();
    } catch (error) {
      throw new Error(`SEED=${seed}`, { cause: error });
    }
    for (const key of Object.keys(sums) as (keyof RaceCounts)[]) sums[key] += sim.counts[key];
  }
  if (process.env['RUNS'] !== undefined) console.log(sums);
  // Each of these events must have happened. Otherwise the runs show nothing.
  expect(sums.committed).toBeGreaterThan(RUNS * 15);
  expect(sums.fenced).toBeGreaterThan(RUNS / 3);
  expect(sums.retried).toBeGreaterThan(RUNS / 3);
  expect(sums.sealsRefused).toBeGreaterThan(RUNS / 10);
  expect(sums.splits).toBeGreaterThan(RUNS / 2);
  expect(sums.read).toBeGreaterThan(RUNS);
  expect(sums.transfers).toBeGreaterThan(RUNS / 2);
  expect(sums.held).toBeGreaterThan(RUNS * 4);
  expect(sums.lost).toBeGreaterThan(RUNS / 10);
  expect(sums.holds).toBeGreaterThan(RUNS / 2);
  expect(sums.trims).toBeGreaterThan(RUNS / 10);
});
