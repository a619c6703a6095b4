import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The part of vitest's report in JSON that is read. */
interface Report {
  readonly testResults: readonly {
    readonly message: string;
    readonly assertionResults: readonly {
      readonly status: string;
      readonly title: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

const root = fileURLToPath(new URL('../../../', import.meta.url));
const config = fileURLToPath(new URL('./vitest.config.ts', import.meta.url));
const TIME_MAX_MS = 300_000;

/** Runs the test with the mutant in the sources. Returns what fails; undefined: the test finds nothing. */
export function failedTest(
  mutant: string,
  file: string,
  env: Readonly<Record<string, string>> = {},
): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'mutant-'));
  try {
    const report = join(folder, 'report.json');
    const { status, stderr } = spawnSync(
      join(root, 'node_modules/.bin/vitest'),
      ['run', '--config', config, '--root', root, '--reporter=json', `--outputFile=${report}`, file],
      { cwd: root, env: { ...process.env, ...env, MUTANT: mutant }, encoding: 'utf8', timeout: TIME_MAX_MS },
    );
    if (status === 0) return undefined;
    if (status === null) return `no end within ${TIME_MAX_MS / 1000} s`;
    const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as Report;
    const failed = testResults
      .flatMap(({ assertionResults }) => assertionResults)
      .find((one) => one.status === 'failed');
    // A file that does not load at all tells nothing about the defect.
    if (failed === undefined) throw new Error(`${file} does not run: ${testResults[0]?.message ?? stderr}`);
    return `${failed.title}: ${failed.failureMessages[0]?.split('\n')[0] ?? ''}`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
