import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { createLogger } from '@engram/telemetry';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type LogRotation, RotatingFile } from '../src/rotating-file.ts';

let folder: string;
let path: string;
let nowMs = 0;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'engram-rotation-'));
  path = join(folder, 'node.log');
  nowMs = Date.UTC(2026, 0, 2, 3, 4, 5, 6);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const plain: LogRotation = { bytesMax: 10, daysMax: 0, backupsMax: 0, localTime: false, compress: false };
const open = (changes: Partial<LogRotation> = {}): RotatingFile =>
  new RotatingFile(path, { ...plain, ...changes }, () => nowMs);
const content = (name = 'node.log'): string => readFileSync(join(folder, name), 'utf8');
const names = (): string[] => readdirSync(folder).toSorted();

test('a line that would make the file too large begins a new one, and the old one has the time in its name', () => {
  const file = open();
  file.append('12345\n');
  file.append('789\n');
  expect(names()).toEqual(['node.log']);
  file.append('next\n');
  expect(names()).toEqual(['node-2026-01-02T03-04-05.006.log', 'node.log']);
  expect([content('node-2026-01-02T03-04-05.006.log'), content()]).toEqual(['12345\n789\n', 'next\n']);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('what the file has from an earlier life counts', () => {
  writeFileSync(path, '12345678');
  open().append('x\n');
  expect(names()).toEqual(['node.log']);
  open().append('y\n');
  expect(content()).toBe('y\n');
});

test('a line that is longer than a file may be is refused, and the file stays', () => {
  const file = open();
  file.append('short\n');
  expect(() => file.append('12345678901')).toThrow('a line of 11 bytes in files of 10');
  expect(content()).toBe('short\n');
});

test('the newest are kept, and those that are too old are deleted', async () => {
  writeFileSync(join(folder, 'node-2025-12-30T00-00-00.000.log'), 'old');
  writeFileSync(join(folder, 'node-2026-01-01T12-00-00.000.log.gz'), 'young');
  for (const other of ['node-.log', 'node-2026.log', 'other-2025-12-30T00-00-00.000.log', 'node-x.txt'])
    writeFileSync(join(folder, other), '');
  const file = open({ daysMax: 2 });
  await file.tended();
  expect(names().filter((name) => name.startsWith('node-20'))).toEqual([
    'node-2026-01-01T12-00-00.000.log.gz',
    'node-2026.log',
  ]);
  expect(names().length).toBe(6);
  const few = open({ backupsMax: 2 });
  for (let at = 0; at < 5; at += 1) {
    nowMs += 1;
    few.append('12345678\n');
  }
  await few.tended();
  expect(names().filter((name) => /^node-2026-/.test(name))).toEqual([
    'node-2026-01-02T03-04-05.010.log',
    'node-2026-01-02T03-04-05.011.log',
  ]);
});

test('files that were put aside are compressed, and nothing of them is lost', async () => {
  const file = open({ compress: true });
  file.append('12345678\n');
  file.append('next\n');
  await file.tended();
  expect(names()).toEqual(['node-2026-01-02T03-04-05.006.log.gz', 'node.log']);
  expect(gunzipSync(readFileSync(join(folder, names()[0]!))).toString()).toBe('12345678\n');
});

test('a log that somebody else has moved begins anew', () => {
  const file = open();
  file.append('12345678\n');
  unlinkSync(path);
  file.append('next\n');
  expect([names(), content()]).toEqual([['node.log'], 'next\n']);
});

test.each([
  { what: 'that is gone', replace: () => {} },
  { what: 'in whose place there is a file', replace: () => writeFileSync(folder, '') },
])('a folder $what takes no new file: the log goes on in the old one', ({ replace }) => {
  const file = open();
  file.append('12345678\n');
  const moved = `${folder}-moved`;
  renameSync(folder, moved);
  replace();
  file.append('next\n');
  rmSync(folder, { force: true });
  renameSync(moved, folder);
  expect([names(), content()]).toEqual([['node.log'], '12345678\nnext\n']);
});

test('the logger writes to all its outputs, and turns its file', () => {
  const other = join(folder, 'other');
  const rotation = { ...plain, bytesMax: 200 };
  const logger = createLogger({ level: 'info', format: 'json', outputs: [path, other], rotation });
  for (let at = 0; at < 3; at += 1) logger.info({ at, text: 'x'.repeat(50) }, 'line');
  const lines = names().flatMap((name) => (name.startsWith('node') ? content(name).split('\n').slice(0, -1) : []));
  expect(lines.map((line) => JSON.parse(line).at)).toEqual([0, 1, 2]);
  expect(names().filter((name) => name.startsWith('node')).length).toBe(3);
});
