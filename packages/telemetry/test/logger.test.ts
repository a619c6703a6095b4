import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, mkdtempSync, openSync, readFileSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createLogger, type LogFormat, type LogLevel } from '@engram/telemetry';

let directory: string;
let file: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'engram-logger-'));
  file = join(directory, 'log');
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const toFile = (level: LogLevel, format: LogFormat = 'json') => createLogger({ level, format, outputs: [file] });
const lines = (): string[] => readFileSync(file, 'utf8').split('\n').slice(0, -1);

test('a line has the shape of those of etcd, level first', () => {
  toFile('info').info({ name: 'default', 'member-id': 5n }, 'ready to serve client requests');
  const line = lines()[0]!;
  expect(line).toMatch(/^\{"level":"info","ts":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z",/);
  expect(JSON.parse(line)).toEqual({
    level: 'info',
    ts: expect.any(String),
    name: 'default',
    'member-id': '5',
    msg: 'ready to serve client requests',
  });
});

test('an error is its text, with what caused it', () => {
  toFile('info').error({ error: new Error('cannot open', { cause: new Error('locked') }) }, 'failed');
  expect(JSON.parse(lines()[0]!)).toMatchObject({ level: 'error', error: 'cannot open: locked' });
});

test.each([
  { level: 'debug', seen: ['debug', 'info', 'warn', 'error', 'fatal'] },
  { level: 'warn', seen: ['warn', 'error', 'fatal'] },
  { level: 'panic', seen: ['fatal'], why: 'between error and fatal, as zap has it' },
  { level: 'fatal', seen: ['fatal'] },
] as const)('level $level lets through $seen', ({ level, seen }) => {
  const logger = toFile(level);
  logger.debug({}, 'x');
  logger.info({}, 'x');
  logger.warn({}, 'x');
  logger.error({}, 'x');
  logger.fatal({}, 'x');
  expect(lines().map((line) => JSON.parse(line).level)).toEqual(seen);
});

test('console lines are for people', () => {
  toFile('info', 'console').warn({ took: '1s' }, 'slow');
  expect(lines()[0]).toMatch(/^\S+Z\tWARN\tslow\t\{"took":"1s"\}$/);
});

test('a file that cannot be opened is told at once', () => {
  expect(() => createLogger({ level: 'info', format: 'json', outputs: [join(directory, 'no/such/folder')] })).toThrow(
    /ENOENT/,
  );
});

test('a reader of stderr that does not read stops nobody, and learns later how many lines it missed', async () => {
  // 4 MB into a pipe that holds 64 KiB and is not read until the writer has finished.
  const code = `
    import { createLogger } from '@engram/telemetry';
    const logger = createLogger({ level: 'info', format: 'json', outputs: ['stderr'] });
    for (let at = 0; at < 4000; at += 1) logger.info({ filler: 'x'.repeat(1000) }, 'line');
    process.stdout.write('done');
    process.stdin.once('data', () => { logger.info({}, 'last'); process.exit(0); });
  `;
  const pipe = join(directory, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const reading = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
  const writing = openSync(pipe, 'w');
  const child = spawn(process.execPath, ['--input-type=module', '--eval', code], {
    cwd: import.meta.dirname,
    stdio: ['pipe', 'pipe', writing],
  });
  closeSync(writing);
  await once(child.stdout!, 'data');
  const buffer = Buffer.alloc(1 << 20);
  let text = buffer.toString('utf8', 0, readSync(reading, buffer));
  child.stdin!.write('go');
  await once(child, 'close');
  text += buffer.toString('utf8', 0, readSync(reading, buffer));
  closeSync(reading);
  const got = text.trimEnd().split('\n');
  expect(JSON.parse(got.at(-1)!).msg).toBe('last');
  const lost = JSON.parse(got.at(-2)!);
  expect(lost.msg).toBe('log lines lost');
  expect(lost.count).toBeGreaterThan(3000);
});
