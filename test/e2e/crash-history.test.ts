import { expect, test } from 'vitest';
import { crc32c, engramHash, etcdHash } from '../../e2e/crash/hash.ts';
import { type Asked, History, type ReplayedChange } from '../../e2e/crash/history.ts';
import { type Answer, effect, type State, type Step, type Write } from '../../e2e/crash/writes.ts';

const put = (key: string, value: string, lease = 0n): Write => ({
  kind: 'step',
  step: { kind: 'put', key, value, lease },
});
const remove = (key: string, rangeEnd?: string): Write => ({
  kind: 'step',
  step: rangeEnd === undefined ? { kind: 'delete', key } : { kind: 'delete', key, rangeEnd },
});
const txn = (key: string, modRevision: number, success: readonly Step[], failure: readonly Step[] = []): Write => ({
  kind: 'txn',
  guard: { key, modRevision },
  success,
  failure,
});
const putStep = (key: string, value: string): Step => ({ kind: 'put', key, value, lease: 0n });

type Replay = (readonly [number, readonly ReplayedChange[]])[];

/** The replay of a correct store after these writes, one for each revision from 2 on. */
function honest(writes: readonly Write[]): Replay {
  const state = new Map();
  return writes.map((write, at) => {
    const changes = effect(write, state, at + 2).map((change) => ({ ...change, before: state.get(change.key) }));
    for (const { key, after } of changes) after === undefined ? state.delete(key) : state.set(key, after);
    return [at + 2, changes] as const;
  });
}

function asked(
  acknowledged: Readonly<Record<number, Write>>,
  open: readonly Write[] = [],
  extra?: Partial<Answer>,
): Asked {
  const entries = Object.entries(acknowledged).map(
    ([revision, write]) =>
      [Number(revision), { write, answer: { revision: Number(revision), changed: true, ...extra } }] as const,
  );
  return {
    acknowledged: new Map(entries),
    open,
    highestSeen: Math.max(1, ...entries.map(([revision]) => revision)),
  };
}

const values = (state: State): Record<string, string> =>
  Object.fromEntries([...state].map(([key, { value }]) => [key, value]));

test('what was acknowledged is taken over, with the open writes that turn out to have happened', () => {
  const history = new History();
  const writes = [put('a', '1'), put('b', '2'), remove('a'), put('c', '3')];
  const happened = history.take(
    honest(writes),
    asked({ 2: writes[0]!, 4: writes[2]! }, [writes[3]!, writes[1]!, put('x', 'never')]),
  );
  expect(values(history.state)).toEqual({ b: '2', c: '3' });
  expect(new Set(happened)).toEqual(new Set([writes[1], writes[3]]));
  expect(history.revision).toBe(5);
});

const [a1, b2, c3] = [put('a', '1'), put('b', '2'), put('c', '3')];
const both = txn('a', 0, [putStep('a', '1'), putStep('b', '2')]);
test.each([
  {
    replay: honest([a1]),
    known: asked({ 2: a1, 3: b2 }),
    says: 'was acknowledged, and the store ends',
    why: 'lost at the end',
  },
  {
    replay: honest([a1, c3]).map(([at, changes], index) => [at + index, changes] as const),
    known: asked({ 2: a1 }, [c3]),
    says: 'should be next',
    why: 'a gap',
  },
  {
    replay: [...honest([a1]), ...honest([a1])],
    known: asked({ 2: a1 }),
    says: 'should be next',
    why: 'a revision twice',
  },
  {
    replay: honest([a1, b2]),
    known: asked({ 2: a1, 3: c3 }),
    says: 'was acknowledged as c',
    why: 'another write at its revision',
  },
  { replay: honest([a1, b2]), known: asked({ 2: a1 }), says: 'nobody asked for', why: 'out of nothing' },
  { replay: honest([a1, b2, b2]), known: asked({ 2: a1 }, [b2]), says: 'happened twice', why: 'an open write twice' },
  { replay: honest([a1]), known: asked({}, [both]), says: 'a part of it', why: 'half of a transaction' },
  {
    replay: honest([both]),
    known: asked({ 2: both }, [], { succeeded: false }),
    says: 'succeeded=false',
    why: 'the wrong branch was told',
  },
  {
    replay: honest([a1, put('a', '2')]),
    known: asked({ 2: a1, 3: put('a', '2') }, [], { previous: [] }),
    says: 'prev_kv',
    why: 'a wrong prev_kv was told',
  },
])('$why is found', ({ replay, known, says }) => {
  expect(() => new History().take(replay, known)).toThrow(says);
});

test('an event that tells a wrong value before it is found', () => {
  const replay = honest([a1, put('a', '2')]);
  const [revision, changes] = replay[1]!;
  replay[1] = [revision, changes.map((change) => ({ ...change, before: undefined }))];
  expect(() => new History().take(replay, asked({ 2: a1 }, [put('a', '2')]))).toThrow('the event says nothing');
});

test('what was once there may not change at a later crash', () => {
  const history = new History();
  history.take(honest([a1, b2]), asked({ 2: a1, 3: b2 }));
  expect(() => history.take(honest([a1, c3]), { ...asked({}), highestSeen: 3 })).toThrow('and is now c');
  expect(() => history.take(honest([a1]), { ...asked({}), highestSeen: 2 })).toThrow('was at revision 3 before');
  expect(() => history.take(honest([a1, b2]), asked({ 3: c3 }))).toThrow('acknowledged twice');
});

test('two deletions that look alike at one point are told apart where they differ', () => {
  // Revision 3 may be either deletion, revision 6 only that of the range. So revision 3 must be the deletion of the
  // key.
  const all = remove('a', 'c');
  const one = remove('a');
  const writes = [a1, one, put('a', '4'), put('b', '5'), all];
  for (const open of [
    [one, all],
    [all, one],
  ]) {
    const known = asked({ 2: a1, 4: writes[2]!, 5: writes[3]! }, open);
    expect(new History().take(honest(writes), known)).toHaveLength(2);
  }
});

test('the end of a lease deletes its keys at once, in the order of keys', () => {
  const writes = [put('b', '1', 7n), put('a', '2', 7n), c3, { kind: 'lease-end', lease: 7n } as const];
  const history = new History();
  history.take(honest(writes), asked({ 2: writes[0]!, 3: writes[1]!, 4: c3 }, [writes[3]!]));
  expect(history.changesAt(5).map(({ key }) => key)).toEqual(['a', 'b']);
  expect(values(history.state)).toEqual({ c: '3' });
});

test('after a compaction the replay begins behind it, on the state that it left', () => {
  const writes = [a1, b2, remove('a'), c3, put('b', '6')];
  const history = new History();
  history.take(honest(writes), asked({ 2: writes[0]!, 3: writes[1]!, 4: writes[2]!, 5: writes[3]!, 6: writes[4]! }));
  history.compact(4);
  expect(values(history.stateAt(4))).toEqual({ b: '2' });
  history.take(honest(writes).slice(3), { ...asked({}), highestSeen: 6 });
  expect(values(history.state)).toEqual({ b: '6', c: '3' });
  // The store keeps a deletion at the compaction's own revision, but not the version before it.
  expect(history.kept(6).map(({ key, revision }) => [key, revision])).toEqual([
    ['b', 3],
    ['a', 4],
    ['c', 5],
    ['b', 6],
  ]);
});

test('CRC-32C is that of RFC 3720, B.4', () => {
  expect(crc32c(new Uint8Array(32))).toBe(0x8a9136aa);
  expect(crc32c(Uint8Array.from({ length: 32 }, (_, index) => index))).toBe(0x46dd794e);
});

test('a hash changes with every part of a version that it covers', () => {
  const after = { value: 'v', createRevision: 2, modRevision: 2, version: 1, lease: 0n };
  const version = { key: 'k', revision: 2, sub: 0, after };
  const others = [
    { ...version, key: 'l' },
    { ...version, after: { ...after, value: 'w' } },
    { ...version, after: { ...after, version: 2 } },
    { ...version, after: { ...after, lease: 1n } },
    { ...version, after: undefined },
  ];
  for (const other of others) {
    expect(etcdHash([other], 0)).not.toBe(etcdHash([version], 0));
    expect(engramHash([other])).not.toBe(engramHash([version]));
  }
});
