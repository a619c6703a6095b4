import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { isAlive } from '../support/is-alive.ts';

const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'engram-e2e-parts-'));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A run that does not end fails its test. */
const RUN_MAX_MS = 50_000;

interface Part {
  /** Lines of its script before what it says. */
  readonly does?: string;
  readonly says: readonly string[];
  readonly code: number;
}

/** Runs tools/e2e in a tree whose parts say these lines and end with these codes. Returns its lines and its code. */
function runParts(
  parts: Readonly<Record<string, Part>>,
  order: readonly string[] = Object.keys(parts),
): {
  readonly lines: readonly string[];
  readonly code: number | null;
} {
  mkdirSync(join(folder, 'tools'), { recursive: true });
  cpSync(join(root, 'tools/e2e'), join(folder, 'tools/e2e'));
  for (const [name, { does = '', says, code }] of Object.entries(parts)) {
    const run = join(folder, 'e2e', name, 'run');
    mkdirSync(join(folder, 'e2e', name), { recursive: true });
    writeFileSync(run, `#!/bin/sh\n${does}\n${says.map((line) => `echo '${line}'\n`).join('')}exit ${code}\n`);
    chmodSync(run, 0o755);
  }
  const { stdout, status } = spawnSync(join(folder, 'tools/e2e'), [...order], {
    encoding: 'utf8',
    timeout: RUN_MAX_MS,
  });
  return { lines: stdout.trimEnd().split('\n'), code: status };
}

/** Lines of a part that may be prepared: by these, with E2E_PREPARE. */
const prepares = (by: string): string => `prepared() { [ -z "\${E2E_PREPARE:-}" ] || { ${by}; exit; }; }\nprepared`;
/** Lines of a part that goes on once a file is there, or ends with 1. */
const waitsFor = (file: string): string =>
  `for try in $(seq 400); do [ ! -e '${file}' ] || break; sleep 0.05; done; [ -e '${file}' ] || exit 1`;

const passes = { says: ['e2e-passes: 3 passed, 0 failed'], code: 0 };
const skips = {
  says: ['e2e-skips: SKIPPED, NOTHING IS TESTED: this machine lacks root', 'e2e-skips: 0 passed, 0 failed'],
  code: 0,
};

test('a part that tests nothing is named with its reason, and is no failure', () => {
  const { lines, code } = runParts({ passes, skips });
  expect(lines.slice(-2)).toEqual(['e2e: tested nothing: skips: this machine lacks root', '3 passed, 0 failed']);
  expect(code).toBe(0);
});

test('a part that counts nothing and ends with a code is one failure', () => {
  const { lines, code } = runParts({ passes, ends: { says: ['this machine lacks nothing, and yet'], code: 75 } });
  expect(lines.at(-2)).toMatch(/^e2e: failed: ends \(exit 75, 0 passed, 1 failed, \d+ s\)$/);
  expect(lines.at(-1)).toBe('3 passed, 1 failed');
  expect(code).toBe(1);
});

test('parts before the -- run two at a time, each is printed as a whole, and those behind it run alone', () => {
  const log = join(folder, 'log');
  const logs = (name: string, between = 'true'): string =>
    `echo 'begins ${name}' >> '${log}'; ${between}; echo 'ends ${name}' >> '${log}'`;
  const there = (name: string): string => join(folder, `${name}-is-there`);
  // Each of the first two ends only if the other one runs at the same time.
  const meets = (name: string, other: string): string => `touch '${there(name)}'; ${waitsFor(there(other))}`;
  const says = (name: string): Part['says'] => [`${name} says this`, `${name} says that`, ...passes.says];
  const { lines, code } = runParts(
    {
      one: { does: logs('one', meets('one', 'two')), says: says('one'), code: 0 },
      two: { does: logs('two', meets('two', 'one')), says: says('two'), code: 0 },
      three: { does: logs('three'), says: says('three'), code: 1 },
      four: { does: logs('four'), says: says('four'), code: 0 },
      five: { does: logs('five'), says: says('five'), code: 0 },
    },
    ['one', 'two', 'three', '--', 'four', 'five'],
  );
  expect(lines.at(-1)).toBe('15 passed, 1 failed');
  expect(lines.at(-2)).toMatch(/^e2e: failed: three \(exit 1, 3 passed, 1 failed, \d+ s\)$/);
  expect(code).toBe(1);
  // What failed is repeated at the end.
  const said = lines.slice(0, lines.indexOf('== the end of e2e/three, which failed'));
  for (const name of ['one', 'two', 'three', 'four', 'five']) {
    const head = lines.indexOf(`== e2e/${name}`);
    expect(lines.slice(head + 1, head + 4)).toEqual(says(name));
    expect(said.filter((line) => line === `${name} says this`)).toHaveLength(1);
    expect(lines[head + 4]).toMatch(new RegExp(`^e2e/${name} took \\d+ s$`));
  }
  const order = readFileSync(log, 'utf8').trimEnd().split('\n');
  expect(order.slice(0, 2).sort()).toEqual(['begins one', 'begins two']);
  expect(order.slice(6)).toEqual(['begins four', 'ends four', 'begins five', 'ends five']);
});

test('parts behind the first are prepared while others run, and nothing else is', () => {
  const made = (name: string): string => join(folder, `${name}-is-made`);
  const by = (name: string): string => prepares(`touch '${made(name)}'`);
  const { lines, code } = runParts({
    first: { ...passes, does: `${by('first')}\n${waitsFor(made('third'))}` },
    // Without the line: as a preparation it would be a run of it.
    second: { ...passes, does: `[ -z "\${E2E_PREPARE:-}" ] || touch '${made('second')}'` },
    third: { ...passes, does: by('third') },
  });
  expect(lines.at(-1)).toBe('9 passed, 0 failed');
  expect(code).toBe(0);
  expect(['first', 'second', 'third'].filter((name) => existsSync(made(name)))).toEqual(['third']);
});

test('a preparation that fails is no failure, and one that does not end ends with the run', async () => {
  const pid = join(folder, 'pid');
  const { lines, code } = runParts({
    first: { ...passes, does: waitsFor(pid) },
    fails: { ...passes, does: prepares('false') },
    hangs: { ...passes, does: prepares(`echo $$ > '${pid}.new'; mv '${pid}.new' '${pid}'; exec sleep 1000`) },
  });
  expect(lines.at(-1)).toBe('9 passed, 0 failed');
  expect(code).toBe(0);
  const hung = Number(readFileSync(pid, 'utf8'));
  expect(hung).toBeGreaterThan(1);
  // Whoever adopts an orphan may be late to see its end.
  await expect.poll(() => isAlive(hung), { timeout: 20_000 }).toBe(false);
});

test('what a container engine needs is asked of the machine by name', () => {
  // Nothing but what the script itself calls: no program of Debian's packages.
  const bin = join(folder, 'bin');
  mkdirSync(bin, { recursive: true });
  for (const name of ['bash', 'id', 'tr', 'sed']) {
    const path = spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).stdout.trim();
    symlinkSync(path, join(bin, name));
  }
  const script = join(root, 'e2e/support/engine-preconditions');
  const { stdout, status } = spawnSync(join(bin, 'bash'), [script], { encoding: 'utf8', env: { PATH: bin } });
  expect(stdout).toBe(process.getuid?.() === 0 ? "the program apt-get: the engine is Debian's\n" : 'root\n');
  expect(status).toBe(0);
});
