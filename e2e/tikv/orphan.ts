import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Lab } from './lab.ts';

/**
 * Runs this project's client in a separate process and kills it between prewrite and commit. All keys must be in one
 * region.
 */
export async function leaveLocks(lab: Lab, mode: '2pc' | 'async', entries: Record<string, string>): Promise<void> {
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, 'orphan-child.ts'), lab.pdAddresses.join(','), mode, ...Object.entries(entries).flat()],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const ended = new Promise((resolve) => child.once('exit', resolve));
  try {
    await Promise.race([
      new Promise((resolve) => child.stdout.once('data', resolve)),
      ended.then(() => Promise.reject(new Error('the client that was to leave locks ended by itself'))),
    ]);
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
}
