import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { subjectFault } from '../tools/subject-check.ts';

test.each([
  'watch-hub: bound backlogs in bytes, for a watcher and for all of them',
  'member, backend: read and check a leader’s batch before anything of it is taken',
  'e2e/fuzz: follow the code of http2 as well',
  'Revert "wire: keep each new rule in one place"',
])('%s: right', (subject) => {
  expect(subjectFault(subject)).toBeUndefined();
});

test.each([
  { subject: 'bound backlogs in bytes', fault: 'no package' },
  { subject: 'Watch hub: bound backlogs', fault: 'no package or folder' },
  { subject: 'backend: a checkpoint that the copy cannot reach now is refused', fault: '"a" is no verb' },
  { subject: 'backend: bounded backlogs', fault: '"bounded" is no verb' },
  { subject: 'backend: Bound backlogs', fault: '"Bound" is no verb' },
  { subject: 'backend: bound', fault: 'a verb alone' },
  { subject: 'backend: bound backlogs.', fault: 'full stop' },
  { subject: `backend: bound ${'x'.repeat(120)}`, fault: 'characters' },
])('$subject: wrong', ({ subject, fault }) => {
  expect(subjectFault(subject)).toContain(fault);
});

test('the tool reads the commits since a base, and ends with 1 if one is wrong', () => {
  const folder = mkdtempSync(join(tmpdir(), 'subjects-'));
  try {
    const git = (...args: readonly string[]): void => {
      const who = ['-c', 'user.name=t', '-c', 'user.email=t@example.com', '-c', 'commit.gpgsign=false'];
      execFileSync('git', [...who, ...args], { cwd: folder, stdio: 'ignore' });
    };
    const check = (base: string) => {
      const tool = join(import.meta.dirname, '../tools/check-subjects.ts');
      const { status, stdout } = spawnSync(process.execPath, [tool, base], { cwd: folder, encoding: 'utf8' });
      return { status, stdout };
    };
    git('init', '--initial-branch=main');
    git('commit', '--allow-empty', '-m', 'the first one, which nobody asks for');
    git('tag', 'base');
    git('commit', '--allow-empty', '-m', 'wire: keep each new rule in one place');
    expect(check('base')).toEqual({ status: 0, stdout: '1 subjects are right, 0 wrong\n' });
    git('commit', '--allow-empty', '-m', 'wire: what waits is not held against the node');
    expect(check('base').status).toBe(1);
    expect(check('base').stdout).toContain('"what" is no verb');
    expect(check('nowhere').status).toBe(2);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
