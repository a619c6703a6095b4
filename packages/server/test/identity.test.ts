import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { nextIdentity } from '../src/identity.ts';
import { SystemRandom } from '../src/system-random.ts';

let directory: string;
let file: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'engram-identity-'));
  file = join(directory, 'below/identity.json');
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

test('ids are drawn once, starts are counted, and no other file is left', () => {
  const first = nextIdentity(file, new SystemRandom());
  const second = nextIdentity(file, new SystemRandom());
  expect(second).toEqual({ ...first, startCount: first.startCount + 1 });
  expect(readdirSync(join(directory, 'below'))).toEqual(['identity.json']);
});

test.each([
  { words: [0, 0], id: 1n, why: 'an id is not 0' },
  { words: [0xffff_ffff, 0xffff_ffff], id: 0x7fff_ffff_ffff_ffffn, why: 'an id has no sign' },
])('from $words comes $id: $why', ({ words, id }) => {
  let at = 0;
  const identity = nextIdentity(file, { uint32: () => words[at++ % 2]! });
  expect(identity).toMatchObject({ clusterId: id, memberId: id });
});

test.each([
  '',
  'null',
  '{"format":1}',
  '{"format":2,"clusterId":"1","memberId":"1","term":1}',
  '{"format":1,"clusterId":"","memberId":"1","term":1}',
  '{"format":1,"clusterId":"1","memberId":"xyz","term":1}',
  '{"format":1,"clusterId":"1","memberId":"1","term":0}',
  '{"format":1,"clusterId":"1","memberId":"1","term":1.5}',
])('a file that says %j is refused and kept', (text) => {
  nextIdentity(file, new SystemRandom());
  writeFileSync(file, text);
  expect(() => nextIdentity(file, new SystemRandom())).toThrow(
    'identity.json is damaged, or was written by a newer version',
  );
  expect(readFileSync(file, 'utf8')).toBe(text);
});
