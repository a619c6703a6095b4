import { describe, expect, test } from 'vitest';
import { CrashSim, type SimCounts } from './crash-sim.ts';

const only = process.env['SEED'];
const start = only === undefined ? Date.now() % 2 ** 31 : Number(only);
const runs = only === undefined ? Number(process.env['RUNS'] ?? 60) : 1;

describe.each([
  { faults: false, name: 'a disk that only forgets' },
  { faults: true, name: 'a disk that also fails' },
])('$name', ({ faults }) => {
  test(`keeps what was acknowledged, wherever the process ends (SEED=${start})`, { timeout: 600_000 }, async () => {
    const sum: Partial<SimCounts> = {};
    for (let run = 0; run < runs; run += 1) {
      const sim = new CrashSim(start + run, faults);
      try {
        await sim.run(12);
      } catch (error) {
        throw new Error(`SEED=${start + run}`, { cause: error });
      }
      for (const key of Object.keys(sim.counts) as (keyof SimCounts)[]) sum[key] = (sum[key] ?? 0) + sim.counts[key];
    }
    if (process.env['RUNS'] !== undefined) console.log(sum);
    if (only !== undefined) return;
    // Otherwise the runs met no crash, and the property proved nothing.
    expect(sum.crashes).toBeGreaterThan(0);
    expect(sum.torn).toBeGreaterThan(0);
    expect(sum.rewrites).toBeGreaterThan(0);
    if (faults) expect(sum.uncertain).toBeGreaterThan(0);
  });
});
