import { type Change, MigrationError, type RevisionChanges, type Target } from '@engram/migration';
import { Prng } from '@engram/sim';
import { expect, test } from 'vitest';
import { RevisionWindow } from '../src/revision-window.ts';
import { conditionOf, type RevisionMark } from '../src/stores.ts';

const { signal } = new AbortController();
const FIRST = 2;

/** A store that gets transactions in any order. */
class DisorderedTarget implements Pick<Target, 'write'> {
  revision = FIRST - 1;
  /** Revisions in which a key was written, by its name. */
  readonly #keys = new Map<string, { readonly version: number; readonly created: number; readonly modified: number }>();
  readonly waiting: { readonly deliver: () => void; readonly fail: (error: Error) => void }[] = [];
  refused = 0;
  waitingMax = 0;

  write(changes: readonly Change[], behind: RevisionMark | undefined): Promise<number | undefined> {
    const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
    this.waiting.push({ deliver: () => resolve(this.#apply(changes, behind)), fail: reject });
    this.waitingMax = Math.max(this.waitingMax, this.waiting.length);
    return promise;
  }

  #apply(changes: readonly Change[], behind: RevisionMark | undefined): number | undefined {
    const isThere = behind === undefined || this.#shows(behind);
    if (!isThere || !changes.every((change) => this.#fits(change))) {
      this.refused += 1;
      return undefined;
    }
    this.revision += 1;
    for (const change of changes) {
      const name = Buffer.from(change.key).toString();
      const before = this.#keys.get(name);
      const modified = this.revision;
      if (change.kind === 'delete') this.#keys.delete(name);
      else
        this.#keys.set(name, { version: (before?.version ?? 0) + 1, created: before?.created ?? modified, modified });
    }
    return this.revision;
  }

  #shows({ key, modRevision }: RevisionMark): boolean {
    return (this.#keys.get(Buffer.from(key).toString())?.modified ?? 0) === modRevision;
  }

  #fits(change: Change): boolean {
    const found = this.#keys.get(Buffer.from(change.key).toString());
    const condition = conditionOf(change);
    if (condition.kind === 'absent') return found === undefined;
    if (condition.kind === 'lives') return found !== undefined;
    return found?.version === condition.version && found.created === condition.createRevision;
  }
}

/** The history of a few keys. One of `deletesOneOf` changes of a key that lives deletes it. */
function historyOf(prng: Prng, count: number, deletesOneOf: number): readonly RevisionChanges[] {
  const living = new Map<string, { version: number; createRevision: number }>();
  return Array.from({ length: count }, (_, at) => {
    const revision = FIRST + at;
    const name = `k${prng.below(4)}`;
    const key = Buffer.from(name);
    const before = living.get(name);
    if (before !== undefined && prng.below(deletesOneOf) === 0) {
      living.delete(name);
      return { revision, changes: [{ kind: 'delete', key }] };
    }
    const { version, createRevision } = {
      version: (before?.version ?? 0) + 1,
      createRevision: before?.createRevision ?? revision,
    };
    living.set(name, { version, createRevision });
    return { revision, changes: [{ kind: 'put', key, value: key, lease: 0n, version, createRevision }] };
  });
}

const put = (revision: number, over: { readonly count?: number; readonly bytes?: number } = {}): RevisionChanges => ({
  revision,
  changes: Array.from({ length: over.count ?? 1 }, (_, at) => ({
    kind: 'put',
    key: Buffer.from(`${revision}/${at}`),
    value: new Uint8Array(over.bytes ?? 1),
    lease: 0n,
    version: 1,
    createRevision: revision,
  })),
});

function windowOf(target: DisorderedTarget): { readonly window: RevisionWindow; readonly written: number[] } {
  const written: number[] = [];
  const window = new RevisionWindow({
    target: target as unknown as Target,
    written: (revision) => void written.push(revision),
    refuse: async ({ revision }, got) => {
      throw new MigrationError('differs', `revision ${revision} became ${got}`);
    },
  });
  return { window, written };
}

/** Lets everything run that waits for nothing outside. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test.each(
  [1, 2, 3, 4, 5, 6, 7, 8].flatMap((seed) => [
    { seed, deletesOneOf: 10 },
    { seed, deletesOneOf: 2 },
  ]),
)(
  'revisions that arrive in any order are written in theirs (seed $seed, of $deletesOneOf changes one deletes)',
  async ({ seed, deletesOneOf }) => {
    const prng = new Prng(seed);
    const history = historyOf(prng, 200, deletesOneOf);
    const target = new DisorderedTarget();
    const { window, written } = windowOf(target);
    let given = false;
    const giving = (async () => {
      for (const revision of history) await window.write(revision, signal);
      given = true;
    })();
    while (!given || target.waiting.length > 0) {
      const [next] = target.waiting.splice(prng.below(Math.max(1, Math.min(3, target.waiting.length))), 1);
      next?.deliver();
      await turn();
    }
    await giving;
    await window.drained();
    expect(written).toEqual(history.map(({ revision }) => revision));
    expect(target.revision).toBe(history.at(-1)?.revision);
    expect(target.refused).toBeGreaterThan(0);
    expect(target.waitingMax).toBeGreaterThan(deletesOneOf);
  },
);

test('some revisions are on their way at a time, and no more', async () => {
  const target = new DisorderedTarget();
  const { window } = windowOf(target);
  const giving = (async () => {
    for (let at = 0; at < 40; at += 1) await window.write(put(FIRST + at), signal);
  })();
  await turn();
  expect(target.waiting).toHaveLength(32);
  target.waiting.shift()?.deliver();
  await turn();
  expect(target.waiting).toHaveLength(32);
  while (target.waiting.length > 0) {
    target.waiting.shift()?.deliver();
    await turn();
  }
  await giving;
});

const remove = (revision: number, ...keys: readonly string[]): RevisionChanges => ({
  revision,
  changes: keys.map((key) => ({ kind: 'delete', key: Buffer.from(key) })),
});

test('revisions that only delete are on their way as any others', async () => {
  const target = new DisorderedTarget();
  const { window, written } = windowOf(target);
  const deliverAll = async (): Promise<void> => {
    for (; target.waiting.length > 0; await turn()) target.waiting.pop()?.deliver();
    await window.drained();
  };
  for (let at = 0; at < 20; at += 1) await window.write(put(FIRST + at), signal);
  await deliverAll();
  for (let at = 0; at < 20; at += 1) await window.write(remove(FIRST + 20 + at, `${FIRST + at}/0`), signal);
  expect(target.waiting).toHaveLength(20);
  await deliverAll();
  expect(target.refused).toBeGreaterThan(0);
  expect(written).toHaveLength(40);
});

test.each([
  { what: 'that is created on the way', keys: ['3/0'], waiting: 2 },
  { what: 'and another one, which lived before', keys: ['3/0', '2/0'], waiting: 3 },
])('what comes behind the deletion of a key $what: $waiting on their way', async ({ keys, waiting }) => {
  const target = new DisorderedTarget();
  const { window } = windowOf(target);
  await window.write(put(2), signal);
  target.waiting.shift()?.deliver();
  await window.drained();
  await window.write(put(3), signal);
  await window.write(remove(4, ...keys), signal);
  const giving = window.write(put(5), signal);
  await turn();
  expect(target.waiting).toHaveLength(waiting);
  for (; target.waiting.length > 0; await turn()) target.waiting.shift()?.deliver();
  await giving;
});

test.each([
  ['of many changes', { count: 41 }],
  ['that is large', { bytes: 9 << 20 }],
])('a revision %s is written alone', async (_what, over) => {
  const target = new DisorderedTarget();
  const { window, written } = windowOf(target);
  await window.write(put(FIRST), signal);
  const giving = window.write(put(FIRST + 1, over), signal);
  await turn();
  expect(target.waiting).toHaveLength(1);
  target.waiting.shift()?.deliver();
  await giving;
  expect(target.waiting).toHaveLength(1);
  target.waiting.shift()?.deliver();
  await window.drained();
  expect(written).toEqual([FIRST, FIRST + 1]);
});

test('what goes wrong first is what it says, and nothing behind it counts as written', async () => {
  const target = new DisorderedTarget();
  const { window, written } = windowOf(target);
  for (let at = 0; at < 3; at += 1) await window.write(put(FIRST + at), signal);
  const [first, second, third] = target.waiting.splice(0);
  first?.deliver();
  third?.fail(new Error('late'));
  second?.fail(new Error('lost'));
  await expect(window.failure).rejects.toThrow('lost');
  await expect(window.drained()).rejects.toThrow('lost');
  await expect(window.write(put(FIRST + 3), signal)).rejects.toThrow('lost');
  expect(written).toEqual([FIRST]);
  expect(target.waiting).toEqual([]);
});

test('a store that somebody else writes to is refused at the first revision that is another there', async () => {
  const target = new DisorderedTarget();
  const { window, written } = windowOf(target);
  target.revision += 1;
  await window.write(put(FIRST), signal);
  await window.write(put(FIRST + 1), signal);
  for (const { deliver } of target.waiting.splice(0)) deliver();
  await expect(window.failure).rejects.toThrow(`revision ${FIRST} became ${FIRST + 1}`);
  expect(written).toEqual([]);
});
