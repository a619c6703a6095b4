import { expect, test } from 'vitest';
import { imageMoments } from './cluster-images.ts';
import type { ClusterPlan, ClusterStep, ClusterStepKind } from './cluster-plan.ts';
import { runClusterPlan } from './cluster-run.ts';
import { plainClusterSettings } from './settings.ts';

const SEEDS = 6;

/** In sequence: leaders that end in rounds, blank members behind a trim, all members blank. Writes run all the time. */
function planOf(seed: number): ClusterPlan {
  const steps: ClusterStep[] = [];
  const add = (atMs: number, kind: ClusterStepKind): void => {
    const id = steps.length + 1;
    steps.push({ id, atMs, seed: 1000 * seed + id, kind });
  };
  const scenarios = ['end-in-round', 'end-in-round', 'join-behind-trim', 'end-in-round', 'start-all-blank'] as const;
  for (let turn = 0; turn < 10; turn += 1) {
    const atMs = 3000 + 8000 * turn;
    add(atMs, scenarios[(turn + seed) % scenarios.length]!);
    for (let at = 0; at < 12; at += 1)
      add(atMs + 500 * at, (['put', 'txn', 'delete', 'compact', 'range'] as const)[at % 5]!);
  }
  const imageEveryBytes = seed % 2 === 0 ? 100 : 400;
  return {
    seed,
    steps,
    settings: { ...plainClusterSettings, imageEveryBytes, imagePageBytes: 150 },
  };
}

test('rounds and trims that end at any of their questions, and members that start from images, lose nothing', async () => {
  let lines = '';
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const { finding } = await runClusterPlan(planOf(seed), { onLine: (line) => (lines += `${line}\n`) });
    expect(finding && `${finding.kind}: ${finding.message}`, `seed ${seed}`).toBeUndefined();
  }
  for (const moment of imageMoments) expect(lines).toContain(`ends in a round, at ${moment}`);
  for (const what of ['published image', 'trimmed the log before', 'has lost its copy']) expect(lines).toContain(what);
  // Some images keep clean pages.
  expect(lines).toMatch(/published image \d+: from \d+, \d+ pages, [1-9]\d* kept/);
}, 120_000);
