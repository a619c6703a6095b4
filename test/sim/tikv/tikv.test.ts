import { describe, expect, test } from 'vitest';
import { runTikv } from './tikv-run.ts';

const RUNS = Number(process.env['SIM_RUNS'] ?? 8);

describe('a simulated cluster on the scripted stores', () => {
  test('answers, fails over, trims and resumes watches as the model says', { timeout: 300_000 }, async () => {
    for (let seed = 1; seed <= RUNS; seed += 1) {
      const { finding } = await runTikv(seed);
      expect(finding && `${finding.kind}: ${finding.message}`, `make sim TIKV=1 SEED=${seed}`).toBeUndefined();
    }
  });

  test('tells the same story of the same seed, byte for byte', { timeout: 60_000 }, async () => {
    for (const seed of [3, 502]) expect(await story(seed)).toBe(await story(seed));
  });

  test('meets what it is made to meet', { timeout: 300_000 }, async () => {
    // So many runs at most: which run meets what changes with each new kind of fault.
    const missing = new Set([
      'is dead',
      'goes on',
      'is cut off',
      'leads epoch=3',
      'an append is uncertain',
      'settled an append',
      'published image',
      'trimmed the log before',
      'has lost its network',
      'does not reach storage for',
      'region-split',
      'pd-outage',
      'store-lost',
      ' begins at ',
      'PD goes back by',
    ]);
    for (let seed = 500; seed < 560 && missing.size > 0; seed += 1) {
      const lines = await story(seed);
      for (const what of missing) if (lines.includes(what)) missing.delete(what);
    }
    expect([...missing]).toEqual([]);
  });
});

async function story(seed: number): Promise<string> {
  const lines: string[] = [];
  const outcome = await runTikv(seed, { onLine: (line) => lines.push(line) });
  return `${lines.join('\n')}\n${outcome.events} ${outcome.revision}`;
}
