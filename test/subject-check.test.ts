import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
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

// A wrong subject can be mended while nobody else has the commit: it is told by the tests of every day.
test('the newest subjects of this clone', () => {
  const root = new URL('..', import.meta.url).pathname;
  const tool = join(root, 'tools/check-subjects.ts');
  const { status, stdout } = spawnSync(process.execPath, [tool, '--newest=50'], { cwd: root, encoding: 'utf8' });
  expect(status, stdout).toBe(0);
});

interface FolderTools {
  /** Runs git in a folder below; `date`: of the commit that it makes. */
  readonly git: (name: string, args: readonly string[], date?: string) => void;
  readonly check: (name: string, asked: string) => { readonly status: number | null; readonly stdout: string };
  readonly path: (name: string) => string;
}

/** A folder in which a test makes commits, and the tool run there. */
function inFolder(work: (tools: FolderTools) => void): void {
  const folder = mkdtempSync(join(tmpdir(), 'subjects-'));
  const git = (name: string, args: readonly string[], date = '2026-01-01T00:00:00Z'): void => {
    const who = ['-c', 'user.name=t', '-c', 'user.email=t@example.com', '-c', 'commit.gpgsign=false'];
    const env = { ...process.env, GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date };
    execFileSync('git', [...who, ...args], { cwd: join(folder, name), stdio: 'ignore', env });
  };
  const check = (name: string, asked: string) => {
    const tool = join(import.meta.dirname, '../tools/check-subjects.ts');
    const { status, stdout } = spawnSync(process.execPath, [tool, asked], {
      cwd: join(folder, name),
      encoding: 'utf8',
    });
    return { status, stdout };
  };
  try {
    work({ git, check, path: (name) => join(folder, name) });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const right = ['commit', '--allow-empty', '-m', 'wire: keep each new rule in one place'];
const wrong = ['commit', '--allow-empty', '-m', 'wire: what waits is not held against the node'];

test('the tool reads the commits since a base, and ends with 1 if one is wrong', () => {
  inFolder(({ git, check }) => {
    git('.', ['init', '--initial-branch=main']);
    git('.', wrong);
    git('.', ['tag', 'base']);
    git('.', right);
    expect(check('.', 'base')).toEqual({ status: 0, stdout: '1 subjects are right, 0 wrong\n' });
    git('.', wrong);
    expect(check('.', 'base').status).toBe(1);
    expect(check('.', 'base').stdout).toContain('"what" is no verb');
    expect(check('.', 'nowhere').status).toBe(2);
    expect(check('.', '--newest=0').status, 'an option that is none').toBe(2);
  });
});

test('it reads the newest commits that a clone has, also a shallow one, and none that are older than the check', () => {
  const late = (minute: number): string => `2026-12-01T00:${String(minute).padStart(2, '0')}:00Z`;
  inFolder(({ git, check, path }) => {
    mkdirSync(path('origin'));
    git('origin', ['init', '--initial-branch=main']);
    git('origin', wrong, '2026-11-01T00:00:00Z');
    expect(check('origin', '--newest=5')).toEqual({ status: 0, stdout: '0 subjects are right, 0 wrong\n' });
    git('origin', wrong, late(1));
    git('origin', right, late(2));
    git('origin', right, late(3));
    expect(check('origin', '--newest=2')).toEqual({ status: 0, stdout: '2 subjects are right, 0 wrong\n' });
    expect(check('origin', '--newest=5')).toMatchObject({
      status: 1,
      stdout: expect.stringContaining('2 subjects are right, 1 wrong'),
    });
    git('.', ['clone', '--depth=2', `file://${path('origin')}`, 'shallow']);
    expect(check('shallow', '--newest=50')).toEqual({ status: 0, stdout: '2 subjects are right, 0 wrong\n' });
    mkdirSync(path('none'));
    expect(check('none', '--newest=50').status, 'a folder without commits').toBe(0);
    expect(check('none', '--newest=50').stdout).toMatch(/no commits .*\n0 subjects are right, 0 wrong\n$/);
  });
});
