import { afterAll, describe, expect, test } from 'vitest';
import { Simulation, type SimulationOptions } from './support/simulation.ts';

// SEED=n RUNS=1 repeats one run; RUNS=2000 searches longer.
const first = Number(process.env['SEED'] ?? Date.now() % 2 ** 31);
const runs = Number(process.env['RUNS'] ?? 8);
const MS = 60_000;

const kinds: readonly (Omit<SimulationOptions, 'seed'> & { readonly name: string })[] = [
  { name: 'one member', members: 1, reconfigures: false },
  { name: 'three members', members: 3, reconfigures: false },
  { name: 'five members', members: 5, reconfigures: false },
  { name: 'members that change', members: 3, reconfigures: true },
];

describe.each(kinds)('$name', (kind) => {
  const totals: Record<string, number> = {};

  test(
    `in ${runs} runs nobody leads twice, no read is stale, and in the end all is whole (SEED=${first})`,
    async () => {
      for (let seed = first; seed < first + runs; seed += 1) {
        const simulation = new Simulation({ ...kind, seed });
        try {
          await simulation.run(MS);
          await simulation.heal();
          await simulation.stop();
          for (const [name, count] of Object.entries(simulation.counts)) totals[name] = (totals[name] ?? 0) + count;
        } catch (cause) {
          throw new Error(`SEED=${seed} RUNS=1, ${kind.name}: ${cause instanceof Error ? cause.message : cause}`, {
            cause,
          });
        }
      }
    },
    30_000 + runs * 5000,
  );

  afterAll(() => {
    if (process.env['COUNTS'] !== undefined) console.log(kind.name, totals);
    if (runs < 8) return;
    expect(totals['leads']).toBeGreaterThan(runs);
    expect(totals['reads']).toBeGreaterThan(runs * 20);
  });
});
