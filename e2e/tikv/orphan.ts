import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Lab } from './lab.ts';

/** A client of ours in a process of its own, killed between prewrite and commit. All keys must lie in one region. */
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
