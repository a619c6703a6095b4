import { parseArgs } from 'node:util';
import { recordLives } from '../../test/linearizability/run.ts';
import { stillHeld } from '../support/nothing-held.ts';

const { values } = parseArgs({
  options: {
    lives: { type: 'string', default: '30' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 32) },
  },
});
const seed = Number(values.seed);
const lives = Number(values.lives);
console.log(`${lives} lives, --seed ${seed}`);
const held: string[] = [];
const ended = async (endpoint: string): Promise<void> => void held.push(...(await stillHeld(endpoint)));
const recorder = await recordLives({ seed, clients: 16, lives, callsEachLife: 3000, ended });
if (held.length > 0) console.log(`held for calls that have ended: ${held.join(', ')}`);
const violations = recorder.violations();
for (const key of violations) console.log(`no order explains what was seen of ${key}:\n${recorder.describe(key)}`);
console.log(`${recorder.calls} calls checked`);
const failed = violations.length + held.length;
console.log(`e2e-linearizability: ${failed === 0 ? 1 : 0} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
