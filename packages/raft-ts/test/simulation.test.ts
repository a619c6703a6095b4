import { afterAll, describe, expect, test } from 'vitest';
import { Simulation, type SimulationOptions } from './support/simulation.ts';

// SEED=n RUNS=1 repeats one run; RUNS=5000 searches longer.
const first = Number(process.env['SEED'] ?? Date.now() % 2 ** 31);
const runs = Number(process.env['RUNS'] ?? 12);
const steps = 4000;

const kinds: readonly (Omit<SimulationOptions, 'seed'> & { readonly name: string })[] = [
  { name: 'three voters', voters: 3, reconfigures: false },
  { name: 'five voters', voters: 5, reconfigures: false },
  { name: 'a membership that changes', voters: 3, reconfigures: true },
  { name: 'no pre-vote', voters: 3, reconfigures: true, limits: { preVote: false } },
  {
    name: 'neither pre-vote nor check-quorum',
    voters: 3,
    reconfigures: true,
    limits: { preVote: false, checkQuorum: false },
  },
  { name: 'one voter', voters: 1, reconfigures: true },
];

describe.each(kinds)('$name', (kind) => {
  const totals: Record<string, number> = {};

  test(`${runs} runs keep every promise of Raft, and go on after the network has healed (SEED=${first})`, () => {
    for (let seed = first; seed < first + runs; seed += 1) {
      try {
        const simulation = new Simulation({ ...kind, seed });
        simulation.run(steps);
        simulation.heal();
        for (const [name, count] of Object.entries(simulation.counts)) totals[name] = (totals[name] ?? 0) + count;
      } catch (cause) {
        throw new Error(`SEED=${seed} RUNS=1, ${kind.name}: ${cause instanceof Error ? cause.message : cause}`, {
          cause,
        });
      }
    }
  });

  // A simulation without events finds no defects, so check that the events happened.
  afterAll(() => {
    if (process.env['COUNTS'] !== undefined) console.log(kind.name, totals);
    if (runs < 8) return;
    expect(totals['elections'], 'elections').toBeGreaterThan(runs);
    expect(totals['reads'], 'reads').toBeGreaterThan(runs);
    expect(totals['crashes'], 'crashes').toBeGreaterThan(runs);
  });
});
