import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const hook = fileURLToPath(new URL('./hook.ts', import.meta.url));
const games = fileURLToPath(new URL('../schedules/main.ts', import.meta.url));
/** A minute on an idle core. The first schedules of a game are those with the fewest preemptions. */
const BOUNDS = { PREEMPTIONS: '2', SCHEDULES: '1000' };
const TIME_MAX_MS = 600_000;

/** Plays the small games with the mutant in the sources. Returns what the first schedule finds; undefined: they find nothing. */
export function failedSchedule(mutant: string): string | undefined {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', hook, games], {
    cwd: root,
    env: { ...process.env, ...BOUNDS, MUTANT: mutant },
    encoding: 'utf8',
    timeout: TIME_MAX_MS,
  });
  if (status === 0) return undefined;
  if (status === null) return `no end within ${TIME_MAX_MS / 1000} s`;
  const finding = stdout.split('\n').find((line) => line.startsWith('  schedule '));
  // Games that do not load tell nothing about the defect.
  if (finding === undefined) throw new Error(`the games do not run: ${stderr}`);
  return finding.trim();
}
