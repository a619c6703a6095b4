import { expect, test } from 'vitest';
import { recordLives } from './run.ts';

const seed = Number(process.env['SEED'] ?? 7);

test(`what clients of a process that is killed again and again saw is linearizable (SEED=${seed})`, async () => {
  const recorder = await recordLives({ seed, clients: 8, lives: 4, callsEachLife: 600 });
  const violations = recorder.violations();
  expect(violations.map((key) => recorder.describe(key))).toEqual([]);
  expect(recorder.calls).toBeGreaterThan(500);
});
