import {
  appendFileSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StoppedStore } from '@engram/server';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ctl, Engram } from './support/processes.ts';
import { Store } from './support/store.ts';

let scratch: string;
beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), 'engramctl-directory-'));
});
afterAll(() => rmSync(scratch, { recursive: true }));

/** The data directory of a member that was killed behind its last answer. */
async function killed(args: readonly string[], fill: (store: Store) => Promise<unknown>): Promise<string> {
  const directory = mkdtempSync(join(scratch, 'data-'));
  await using engram = await Engram.start(args);
  using store = new Store(engram.address);
  await fill(store);
  cpSync(engram.dataDir, directory, { recursive: true });
  return directory;
}

/** The first file of the log. */
function segmentOf(directory: string): string {
  const segments = join(directory, 'engram/segments');
  return join(segments, readdirSync(segments).filter((name) => name.endsWith('.seg'))[0]!);
}

/** Files of copies that this process has open, deleted ones too. */
const heldFiles = (): readonly string[] =>
  readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${fd}`);
      return path.includes('engram-stopped-') ? [path] : [];
    } catch {
      return []; // closed meanwhile
    }
  });

const json = async (directory: string): Promise<unknown> => {
  const { code, out, err } = await ctl(['inspect', directory, '-o', 'json']);
  expect([code, err]).toEqual([0, '']);
  return JSON.parse(out);
};

test('a directory of --storage=leveldb is read, too', async () => {
  const directory = await killed(['--storage=leveldb'], async (store) => {
    for (const value of ['a', 'bc']) await store.put('/registry/pods/default/web', value);
    await store.put('/registry/pods/default/gone', 'x');
    await store.remove('/registry/pods/default/gone');
  });
  expect(await json(directory)).toMatchObject({ revision: 5, total: { keys: 1, oldVersions: 3, deletions: 1 } });
});

test('what was compacted is gone, and the newest version of a key counts, not the first', async () => {
  const directory = await killed([], async (store) => {
    for (const value of ['a', 'bc', 'def']) await store.put('/registry/pods/default/web', value);
    await store.compact(3);
    await store.put('/registry/pods/default/api', 'x');
  });
  expect(await json(directory)).toMatchObject({
    revision: 5,
    compactRevision: 3,
    total: { keys: 2, changes: 4, oldVersions: 1, deletions: 0 },
  });
});

test('a store of more than one page is read whole', async () => {
  const directory = await killed([], async (store) => {
    for (let at = 0; at < 5; at += 1) await store.put(`/registry/pods/default/p-${at}`, Buffer.alloc(700_000));
  });
  expect(await json(directory)).toMatchObject({ revision: 6, total: { keys: 5 } });
});

test('a store without a key has the first revision', async () => {
  expect(await json(await killed([], async () => {}))).toMatchObject({ revision: 1, total: { keys: 0 } });
});

test('a damaged log is told by its place', async () => {
  const directory = await killed([], async (store) => {
    for (let at = 0; at < 3; at += 1) await store.put(`/registry/pods/default/p-${at}`, 'marked');
  });
  const segment = segmentOf(directory);
  const bytes = readFileSync(segment);
  const at = bytes.indexOf('marked');
  expect(at).toBeGreaterThan(0);
  bytes[at]! ^= 1;
  writeFileSync(segment, bytes);
  const { code, out, err } = await ctl(['inspect', directory]);
  expect([code, out]).toEqual([3, '']);
  expect(err).toContain(`cannot read ${directory}: `);
  expect(err).not.toContain('engram-stopped-');
});

const identities: readonly (readonly [what: string, problem: string, change: (text: string) => string])[] = [
  ['is damaged', 'is damaged, or was written by a newer version', (text) => text.slice(1)],
  // The log is sealed for a later start.
  [
    'is an older one',
    'epoch 2 is older than 3, which has sealed the log',
    (text) => text.replace('"term":3', '"term":1'),
  ],
];
test.each(identities)(
  'a directory whose identity %s is refused, and its copy let go',
  async (_what, problem, change) => {
    const directory = await killed([], (store) => store.put('a', 'b'));
    await (await Engram.start([`--data-dir=${directory}`]))[Symbol.asyncDispose]();
    const file = join(directory, 'engram/identity.json');
    const before = readFileSync(file, 'utf8');
    writeFileSync(file, change(before));
    expect(readFileSync(file, 'utf8')).not.toBe(before);
    const { code, out, err } = await ctl(['inspect', directory]);
    expect([code, out]).toEqual([3, '']);
    expect(err).toContain(problem);
    expect(err).not.toContain('engram-stopped-');
    expect(heldFiles()).toEqual([]);
  },
);

test('a directory that changes while it is copied is refused, and no copy is left', async () => {
  const directory = await killed([], (store) => store.put('a', 'b'));
  const copies = (): number => readdirSync(tmpdir()).filter((name) => name.startsWith('engram-stopped-')).length;
  const before = copies();
  const never = new AbortController().signal;
  // Asked before each file is copied.
  const signal = Object.assign(never, { throwIfAborted: () => appendFileSync(segmentOf(directory), 'x') });
  const logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  await expect(StoppedStore.open(directory, { logger, signal })).rejects.toThrow(
    `${directory} has changed while it was copied: stop the node that runs on it`,
  );
  expect(copies()).toBe(before);
});
