import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createConnection, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Following } from '@engram/backend';
import { readConfiguration } from '@engram/server';
import { Prng } from '@engram/sim';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { askForCutOver, CutOverSocket, cutOverSocketOf } from '../src/migrate/cut-over-socket.ts';
import { checkFollowing } from '../src/start/cluster-data.ts';
import { ownFolder } from '../src/start/data-directory.ts';
import { FoundingFolder } from '../src/start/founding-folder.ts';
import { readMigrationMark, removeMigrationMark, writeMigrationMark } from '../src/start/migration-mark.ts';

let dataDir: string;
let own: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'engram-migration-'));
  own = ownFolder(dataDir);
  mkdirSync(own);
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

const read = (...args: readonly string[]) => readConfiguration(args, {});

test('migrate takes the flags of a member, and where the etcd is', async () => {
  const given = await read('migrate', '--from=a:1,https://b:2', '--from-user=root:x:y', '--data-dir=d');
  expect(given).toMatchObject({
    kind: 'migrate',
    from: { endpoints: ['a:1', 'https://b:2'], tls: undefined, user: { name: 'root', password: 'x:y' } },
    config: { dataDir: 'd' },
  });
  expect(await read('cut-over', '--data-dir=d')).toMatchObject({ kind: 'cut-over', config: { dataDir: 'd' } });
});

test('migrate takes the flags of a member of a cluster', async () => {
  const flags = ['--storage=tikv', '--tikv-pd-endpoints=p:1', '--tikv-prefix=there', '--discard-unfinished'];
  expect(await read('migrate', '--from=a:1', ...flags)).toMatchObject({
    kind: 'migrate',
    config: { storage: 'tikv', cluster: { prefix: 'there' }, discardUnfinished: true },
  });
});

test('mirror takes where both are, and no argument', async () => {
  expect(await read('mirror', '--to=b:2', '--until-equal')).toEqual({
    kind: 'mirror',
    config: {
      from: { endpoints: ['http://localhost:2379'], tls: undefined, user: undefined },
      to: { endpoints: ['b:2'], tls: undefined, user: undefined },
      untilEqual: true,
    },
  });
  expect(await read('mirror', '--to=b:2', 'more')).toMatchObject({ kind: 'usage' });
  expect(await read('mirror', '--data-dir=d')).toMatchObject({ kind: 'usage' });
});

test.each([
  { args: ['--from=a:1'], problem: '--from: only with the command migrate' },
  { args: ['migrate'], problem: 'migrate needs --from' },
  { args: ['migrate', '--from=a:1', '--storage=memory'], problem: '--storage=memory cannot follow an etcd: it ends' },
  {
    args: ['migrate', '--from=a:1', '--storage=tikv', '--tikv-pd-endpoints=p:1', '--revision-origin=timestamp'],
    problem: 'are those of the etcd, so --revision-origin=sequence',
  },
  { args: ['--discard-unfinished'], problem: '--discard-unfinished: only with --from' },
  { args: ['migrate', '--from-user=a:b'], problem: '--from-user: only with --from' },
  { args: ['migrate', '--from=a:1', '--from-user=a'], problem: '--from-user: expected name:password' },
  { args: ['migrate', '--from=a:1', '--from-cacert=/none'], problem: '--from-cacert: cannot read /none' },
  { args: ['migrate', `--from=${'a:1,'.repeat(101)}`], problem: '--from: more than 100 endpoints' },
  { args: ['mirror'], problem: 'mirror needs --to' },
])('engram $args is refused: $problem', async ({ args, problem }) => {
  await expect(read(...args)).rejects.toThrow(problem);
});

test('the mark of a store that follows is read back, and removed for good', async () => {
  expect(readMigrationMark(own)).toBeUndefined();
  const mark = { clusterId: 0xfeedn, from: ['a:1', 'b:2'] };
  writeMigrationMark(own, mark);
  expect(readMigrationMark(own)).toEqual(mark);
  expect(() => writeMigrationMark(own, mark)).toThrow('EEXIST');
  await removeMigrationMark(own);
  expect(
    await removeMigrationMark(own).catch(String),
    'once more, behind a folder that could not be synced',
  ).toBeUndefined();
  expect(readdirSync(own)).toEqual([]);
});

test.each(['', '{}', 'x', '[]', '{"magic":"engram migration","format":2}', `${' '.repeat(70_000)}{}`])(
  'a mark that is damaged, or of a newer program, is no permission to write: %j',
  (text) => {
    writeFileSync(join(own, 'migration.json'), text);
    expect(() => readMigrationMark(own)).toThrow('it is unknown whether the store may be written to');
  },
);

test('a member starts on a store that follows with its command alone, and on no other store with it', () => {
  const follows = { clusterId: 1n, from: ['a:1', 'b:2'] };
  const following = new Following();
  expect(() => checkFollowing({ follows }, undefined, 'there')).toThrow(
    'the store at the prefix "there" follows the etcd at a:1,b:2, and takes no writes: start its members with engram migrate',
  );
  expect(() => checkFollowing({}, following, 'there')).toThrow('follows no etcd any more');
  checkFollowing({ follows }, following, 'there');
  checkFollowing({}, undefined, 'there');
});

test('a data directory founds a store under one number, whatever an attempt has left, until the store is there', async () => {
  const numbers: bigint[] = [];
  for (let attempt = 0; attempt < 3; attempt += 1) {
    // Killed: it is not disposed of.
    const folder = await FoundingFolder.open(dataDir, new Prng(attempt));
    expect(readdirSync(folder.path)).toEqual([]);
    writeFileSync(join(folder.path, 'snapshot.db'), 'half');
    numbers.push(folder.restore);
  }
  expect(new Set(numbers).size).toBe(1);
  expect(numbers[0]).toBeGreaterThan(0n);
  {
    using folder = await FoundingFolder.open(dataDir, new Prng(3));
    expect(folder.restore).toBe(numbers[0]);
  }
  FoundingFolder.remove(dataDir);
  FoundingFolder.remove(dataDir);
  expect(readdirSync(dataDir)).toEqual(['engram']);
  using next = await FoundingFolder.open(dataDir, new Prng(4));
  expect(next.restore).not.toBe(numbers[0]);
});

test('a command gets the answer of the process that follows, whatever was left at the path of its socket', async () => {
  writeFileSync(cutOverSocketOf(dataDir), 'left over');
  let asked = 0;
  const answers = [
    { done: false, text: '3 revisions are missing' },
    { done: true, text: 'cut over' },
  ];
  await using _socket = await CutOverSocket.listen(dataDir, async () => answers[asked++]!);
  expect(await askForCutOver(dataDir)).toEqual(answers[0]);
  expect(await askForCutOver(dataDir)).toEqual(answers[1]);
});

test('whoever says something else to the socket is cut off, and nothing is asked', async () => {
  let asked = 0;
  await using _socket = await CutOverSocket.listen(dataDir, async () => {
    asked += 1;
    return { done: true, text: '' };
  });
  const socket = createConnection(cutOverSocketOf(dataDir), () => socket.write('cut-off\n'));
  socket.on('error', () => {});
  await new Promise<void>((resolve) => socket.once('close', () => resolve()));
  expect(asked).toBe(0);
});

test('without a process that follows the command says so, and a path that is too long is refused by name', async () => {
  await expect(askForCutOver(dataDir)).rejects.toThrow('no store that follows an etcd runs on');
  expect(() => cutOverSocketOf(`/${'x'.repeat(120)}`)).toThrow('has more than 107 bytes');
});

test('whoever gets no answer to the cut-over is told that it may have come about', async () => {
  // Its process is killed before it has read anything.
  const server = createServer({ pauseOnConnect: true }, (socket) => setTimeout(() => socket.destroy(), 50));
  await new Promise<void>((resolve) => server.listen(cutOverSocketOf(dataDir), resolve));
  await expect(askForCutOver(dataDir)).rejects.toThrow('it is unknown whether the store of');
  await new Promise((resolve) => server.close(resolve));
});
