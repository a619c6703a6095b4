import { describe, expect, test } from 'vitest';
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
  { name: 'two voters', voters: 2, reconfigures: true },
];

/** Where the runs have not met enough events, more seeds follow, up to this number: how many they meet is a matter of chance. */
const RUNS_MAX = 200;

describe.each(kinds)('$name', (kind) => {
  const totals: Record<string, number> = {};

  const run = (seed: number): void => {
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
  };

  // A simulation without events finds no defects, so the runs go on until the events have happened.
  const missing = (): readonly string[] =>
    ['elections', 'reads', 'crashes'].filter((name) => (totals[name] ?? 0) <= Math.min(runs, 12));

  test(`${runs} runs keep every promise of Raft, and go on after the network has healed (SEED=${first})`, () => {
    let seed = first;
    for (; seed < first + runs; seed += 1) run(seed);
    if (process.env['COUNTS'] !== undefined) console.log(kind.name, totals);
    if (runs < 8) return;
    for (; missing().length > 0 && seed < first + RUNS_MAX; seed += 1) run(seed);
    expect(missing(), 'events that have not happened often enough').toEqual([]);
  });
});
