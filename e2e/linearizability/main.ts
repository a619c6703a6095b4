import { parseArgs } from 'node:util';
import { recordLives } from '../../test/linearizability/run.ts';

const { values } = parseArgs({
  options: {
    lives: { type: 'string', default: '30' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 32) },
  },
});
const seed = Number(values.seed);
const lives = Number(values.lives);
console.log(`${lives} lives, --seed ${seed}`);
const recorder = await recordLives({ seed, clients: 16, lives, callsEachLife: 3000 });
const violations = recorder.violations();
for (const key of violations) console.log(`no order explains what was seen of ${key}:\n${recorder.describe(key)}`);
console.log(`${recorder.calls} calls checked`);
console.log(`e2e-linearizability: ${violations.length === 0 ? 1 : 0} passed, ${violations.length} failed`);
process.exitCode = violations.length === 0 ? 0 : 1;
