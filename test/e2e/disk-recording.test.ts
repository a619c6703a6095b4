import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { parseRecording } from '../../e2e/disk/recording.ts';

/* What e2e/disk makes of the calls of several threads, as strace writes them: a file for each thread. */

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'engram-recording-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const hex = (text: string): string =>
  [...Buffer.from(text)].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('');
const open = (name: string): string =>
  `openat(AT_FDCWD, "${hex(`/data/${name}`)}", O_RDWR|O_CREAT, 0666) = 5</data/${name}>`;

/** Each call: when it begins, what strace writes of it, and how long it takes, in seconds. */
function recorded(
  ...threads: readonly (readonly (readonly [at: number, call: string, took: number])[])[]
): readonly string[] {
  for (const [thread, calls] of threads.entries()) {
    const lines = calls.map(([at, call, took]) => `${at.toFixed(6)} ${call} <${took.toFixed(6)}>\n`);
    writeFileSync(join(folder, `calls.${thread + 1}`), lines.join(''));
  }
  return parseRecording(folder, '/data').map((change) => `${change.kind} ${change.path}`);
}

test('a file gets what is written to it, also where its number was released by a call that is seen to end later', () => {
  const changes = recorded(
    [
      [1, open('old'), 0.001],
      [2, 'close(5</data/old>) = 0', 0.01],
    ],
    [
      [2.005, open('new'), 0.001],
      [2.02, `pwrite64(5</data/new>, "${hex('bytes')}", 5, 0) = 5`, 0.001],
      [2.03, 'fsync(5</data/new>) = 0', 0.001],
    ],
  );
  expect(changes).toEqual(['open /data/old', 'open /data/new', 'write /data/new', 'sync /data/new']);
});

test('a number that was closed is nobody’s until it is given again', () => {
  const changes = recorded([
    [1, open('old'), 0.001],
    [2, 'close(5</data/old>) = 0', 0.001],
    [3, `write(5<socket:[7]>, "${hex('bytes')}", 5) = 5`, 0.001],
  ]);
  expect(changes).toEqual(['open /data/old']);
});
