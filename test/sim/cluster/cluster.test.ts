import { describe, expect, test } from 'vitest';
import { makeClusterPlan } from './cluster-plan.ts';
import { runCluster } from './cluster-run.ts';

const RUNS = Number(process.env['SIM_RUNS'] ?? 12);

describe('a simulated cluster', () => {
  test('answers, fails over and resumes watches as the model says', { timeout: 300_000 }, async () => {
    for (let seed = 1; seed <= RUNS; seed += 1) {
      const { finding } = await runCluster(seed);
      expect(finding && `${finding.kind}: ${finding.message}`, `make sim CLUSTER=1 SEED=${seed}`).toBeUndefined();
    }
  });

  test('tells the same story of the same seed, byte for byte', async () => {
    for (const seed of [2, 7]) expect(await story(seed)).toBe(await story(seed));
  });

  test('meets every kind of lie', async () => {
    const stories: string[] = [];
    for (let seed = 1; stories.length < 12; seed += 1)
      if (makeClusterPlan(seed).settings.liar > 0) stories.push(await story(seed));
    const lines = stories.join('\n');
    for (const what of [
      /lie \d+ to m\d: a dismissal: a dismissal/,
      /the word of a second leader: a second leader/,
      /(?:an election that nobody won|as if the leader had asked for it|an answer of a later term): taken/,
      /a write in another member's name: NotCapable/,
      /a write: done/,
      /lie-in-answer/,
      /lie-in-stream/,
      /lie-of-follower/,
    ])
      expect(what.test(lines), String(what)).toBe(true);
  });

  test('meets what it is made to meet', async () => {
    const stories: string[] = [];
    for (let seed = 100; seed < 160; seed += 1) stories.push(await story(seed));
    const lines = stories.join('\n');
    for (const what of [
      'is dead',
      'has stopped',
      'goes on',
      'is cut off',
      'leads epoch=3',
      'an append is uncertain',
      'settled an append',
      'could not take over',
      ' resumes ',
      'lease-revoke',
      'published image',
      'is to have the version of now',
      'trimmed the log before',
      ': done',
    ]) {
      expect(lines, what).toContain(what);
    }
  });
});

async function story(seed: number): Promise<string> {
  const lines: string[] = [];
  const outcome = await runCluster(seed, { onLine: (line) => lines.push(line) });
  return `${lines.join('\n')}\n${outcome.events} ${outcome.revision}`;
}
