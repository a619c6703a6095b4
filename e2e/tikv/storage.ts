import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Checks } from './check.ts';
import type { Lab } from './lab.ts';
import { logRaces } from './log-races.ts';

const root = join(import.meta.dirname, '../..');

/** Checks a node's storage on real stores: the contracts of the ports, and nodes that take the log from each other. */
export async function storage(checks: Checks, lab: Lab, races: number, seconds: number): Promise<void> {
  await checks.check('storage: the contracts of the ports', () => contracts(lab));
  await checks.check('storage: races of a seal against appends', () => logRaces(lab, { races, seconds }));
}

/** Returns vitest's last lines. Throws its output if a test has failed. */
async function contracts(lab: Lab): Promise<string> {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const args = [
    vitest,
    'run',
    '--config',
    join(import.meta.dirname, 'vitest.config.ts'),
    '--reporter=dot',
    '--no-color',
  ];
  const env = { ...process.env, TIKV_PD: lab.pdAddresses.join(','), NO_COLOR: '1' };
  const child = spawn(process.execPath, args, { cwd: import.meta.dirname, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes: Buffer) => (output += bytes.toString()));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`vitest ended with ${code}:\n${output}`);
  return /Tests .*/.exec(output)?.[0] ?? output.slice(-200);
}
