import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Prng, Scheduler, SimDisk, SimHost } from '@engram/sim';
import { nodeFileSystem } from '@engram/storage-segment';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Identity, nextIdentity } from '../src/start/identity.ts';
import { SystemRandom } from '../src/system-random.ts';

let directory: string;
let file: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'engram-identity-'));
  file = join(directory, 'below/identity.json');
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

test('ids are drawn once, starts are counted, and no other file is left', async () => {
  const first = await nextIdentity(nodeFileSystem, file, new SystemRandom());
  const second = await nextIdentity(nodeFileSystem, file, new SystemRandom());
  expect(second).toEqual({ ...first, startCount: first.startCount + 1 });
  expect(readdirSync(join(directory, 'below'))).toEqual(['identity.json']);
});

test.each([
  { words: [0, 0], id: 1n, why: 'an id is not 0' },
  { words: [0xffff_ffff, 0xffff_ffff], id: 0x7fff_ffff_ffff_ffffn, why: 'an id has no sign' },
])('from $words comes $id: $why', async ({ words, id }) => {
  let at = 0;
  const identity = await nextIdentity(nodeFileSystem, file, { uint32: () => words[at++ % 2]! });
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
])('a file that says %j is refused and kept', async (text) => {
  await nextIdentity(nodeFileSystem, file, new SystemRandom());
  writeFileSync(file, text);
  await expect(nextIdentity(nodeFileSystem, file, new SystemRandom())).rejects.toThrow(
    'identity.json is damaged, or was written by a newer version',
  );
  expect(readFileSync(file, 'utf8')).toBe(text);
});

const SEED = Number(process.env['SEED'] ?? Date.now() % 2 ** 31);
const CRASHED = Symbol('crashed');

test(`whenever the machine fails, a count that was used is not used again, and the ids stay (SEED=${SEED})`, async () => {
  let crashes = 0;
  for (let run = 0; run < 200; run += 1) {
    const prng = new Prng(SEED + run);
    const scheduler = new Scheduler({ random: prng.fork('order') });
    const host = new SimHost(scheduler, { name: 'node', random: prng.fork('host'), turnMsMax: 1 });
    const disk = new SimDisk(prng.fork('disk'));
    let last: Identity | undefined;
    for (let life = 0; life < 12; life += 1) {
      const process = host.start();
      const { fileSystem } = disk.ground(process);
      disk.arm({ steps: prng.below(40), kind: prng.pick(['power', 'kill']) }, undefined);
      const crashed = new Promise<typeof CRASHED>((resolve) => process.atEnd(() => resolve(CRASHED)));
      const random = prng.fork(`life ${life}`);
      const started = await scheduler.run(
        Promise.race([nextIdentity(fileSystem, '/data/identity.json', random), crashed]),
      );
      if (started === CRASHED) crashes += 1;
      else {
        if (last !== undefined) {
          const { clusterId, memberId } = last;
          expect(started).toMatchObject({ clusterId, memberId });
          expect(started.startCount).toBeGreaterThan(last.startCount);
        }
        last = started;
        disk.crash(prng.pick(['power', 'kill']));
      }
    }
  }
  expect(crashes).toBeGreaterThan(200);
});
