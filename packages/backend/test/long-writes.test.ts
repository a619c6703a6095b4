import { nodeItself, type RangeResult } from '@engram/backend';
import {
  EMPTY_BYTES,
  epoch,
  type ErrorCode,
  keyBytes,
  type KeyRange,
  keyText,
  leaseId,
  type Op,
  prefixRange,
} from '@engram/core';
import { Scheduler, SimClock } from '@engram/sim';
import { type AppendFault, MemoryStorage } from '@engram/storage';
import { expect, test } from 'vitest';
import { type Node, openNode, watchAll } from './harness.ts';
import { checkQuiet, everything, Gate, get, put, putOf, refusal, txnOf } from './ops.ts';

const KEYS = 3000;
/** Steps of a slice, about a change each: a delete of all keys takes some 40 turns, of a millisecond each. */
const SLICE_STEPS = 80;
const keyOf = (at: number): string => `k${String(at).padStart(5, '0')}`;
const allKeys: KeyRange = prefixRange(keyBytes('k'));
const deleteAll = (prevKv = false): Op => ({ kind: 'delete-range', range: allKeys, prevKv });

type Settings = Parameters<typeof openNode>[1];

/** A node whose turns take a millisecond each, with keys; `lease` has them all. */
async function nodeWith(
  settings: Settings & { readonly storage?: MemoryStorage; readonly keys?: number; readonly lease?: bigint } = {},
): Promise<Node> {
  const { storage = new MemoryStorage(), keys = KEYS, lease = 0n, ...rest } = settings;
  const clock = new SimClock({ scheduler: new Scheduler(), turnMs: () => 1 });
  const node = await clock.run(openNode(storage, { clock, sliceSteps: SLICE_STEPS, ...rest }));
  if (lease !== 0n) await clock.run(node.backend.leaseGrant(leaseId(lease), 1000, nodeItself));
  for (let from = 0; from < keys; from += 100) {
    const puts = Array.from({ length: Math.min(100, keys - from) }, (_, at) =>
      putOf(keyOf(from + at), `v${from + at}`, { lease: leaseId(lease) }),
    );
    await clock.run(node.backend.txn(txnOf(...puts), nodeItself));
  }
  return node;
}

/** Lets `count` turns pass, with the work that they trigger. */
async function turns({ clock }: Node, count: number): Promise<void> {
  await clock.pass(count);
}

const counted = ({ backend, clock }: Node): Promise<RangeResult> =>
  clock.run(Promise.resolve(backend.range(everything({ countOnly: true }), nodeItself)));
const count = async (node: Node): Promise<number> => (await counted(node)).count;

test('a long delete gives way, and until it takes effect, whole, everybody else sees the store without it', async () => {
  const node = await nodeWith();
  const { backend, clock } = node;
  const before = backend.revision;
  const sink = watchAll(node, before + 1);
  let done = false;
  const deleting = backend.txn(txnOf(deleteAll(true)), nodeItself).finally(() => {
    done = true;
  });
  let seen = 0;
  for (; !done; seen += 1) {
    await turns(node, 1);
    if (done) break;
    // In every answer meanwhile, the revision and the keys change together. Watchers get the events not before that.
    const { count: keys, revision } = await counted(node);
    expect(keys).toBe(revision === before ? KEYS : 0);
    expect(sink.groups.length).toBeLessThanOrEqual(backend.revision - before);
  }
  expect(seen, 'counts that others made').toBeGreaterThan(5);
  const [answer] = (await clock.run(deleting)).responses;
  expect(answer).toMatchObject({
    kind: 'delete-range',
    deleted: KEYS,
    revision: before + 1,
    prevKvs: { length: KEYS },
  });
  expect(sink.groups.map(({ revision, events }) => [revision, events.length])).toEqual([[before + 1, KEYS]]);
  expect(sink.groups[0]!.events.map(({ key }) => keyText(key))).toEqual(
    Array.from({ length: KEYS }, (_, at) => keyOf(at)),
  );
  expect(node.fatal).toEqual([]);
  checkQuiet(backend);
});

test('others follow a long write in the order in which they asked, and lose nothing of it', async () => {
  const node = await nodeWith();
  const { backend, clock } = node;
  const before = backend.revision;
  // Each call succeeds only if the calls before it are decided already.
  const work = [
    backend.txn(put('k00000', 'before'), nodeItself),
    backend.txn(txnOf(deleteAll()), nodeItself),
    backend.txn({ ...put('k00000', 'after'), compares: [isMissing('k00000')] }, nodeItself),
    backend.leaseGrant(leaseId(7n), 100, nodeItself),
    backend.txn(put('leased', 'x', { lease: leaseId(7n) }), nodeItself),
    backend.txn({ ...put('k00001', 'x'), compares: [isMissing('k00001')] }, nodeItself),
    backend.leaseRevoke(leaseId(7n), nodeItself),
    backend.txn({ ...txnOf(everything(), deleteAll()), compares: [isMissing('leased')] }, nodeItself),
    backend.txn(put('last', 'x'), nodeItself),
  ];
  const answers = await clock.run(Promise.all(work));
  expect(
    answers.map((answer) => (typeof answer === 'object' && 'revision' in answer ? answer.revision : answer)),
  ).toEqual([
    before + 1,
    before + 2,
    before + 3,
    expect.objectContaining({ id: 7n }),
    before + 4,
    before + 5,
    before + 6,
    before + 7,
    before + 8,
  ]);
  expect(answers[7]).toMatchObject({ succeeded: true, responses: [{ count: 2 }, { deleted: 2 }] });
  expect(await count(node)).toBe(1);
});

const isMissing = (key: string) => ({
  range: { key: keyBytes(key), end: EMPTY_BYTES },
  result: 0,
  target: 2,
  number: 0,
  lease: leaseId(0n),
  value: EMPTY_BYTES,
});

test('renewals are answered while a long write is decided', async () => {
  const node = await nodeWith();
  const { backend, clock } = node;
  await clock.run(backend.leaseGrant(leaseId(5n), 100, nodeItself));
  const deleting = backend.txn(txnOf(deleteAll()), nodeItself);
  await turns(node, 3);
  expect(backend.leaseKeepAlive(leaseId(5n), nodeItself)).toBe(100);
  await clock.run(deleting);
});

test('a lease whose time is over is told to be gone when it is, also where several want to end it', async () => {
  const gate = new Gate('append');
  // Three deletions a turn: the delete takes a second, and the keeper of leases checks every 500 ms.
  const node = await nodeWith({ storage: new MemoryStorage(gate), sliceSteps: 3 });
  const { backend, clock } = node;
  await clock.run(backend.leaseGrant(leaseId(5n), 10, nodeItself));
  await clock.run(backend.txn(put('leased', 'x', { lease: leaseId(5n) }), nodeItself));
  await clock.pass(9900);
  gate.shut = true;
  const deleting = backend.txn(txnOf(deleteAll()), nodeItself);
  await clock.pass(150);
  let told = 0;
  const renew = (): Promise<number> =>
    Promise.resolve(backend.leaseKeepAlive(leaseId(5n), nodeItself)).finally(() => {
      told += 1;
    });
  const first = renew();
  await clock.pass(500);
  const second = renew();
  expect(backend.leadership!.assigned.revision, 'all of them wait for the delete').toBe(backend.revision);
  await clock.pass(3000);
  expect(backend.replica.state.lessor.size).toBe(1);
  expect(told).toBe(0);
  gate.open();
  expect(await clock.run(Promise.all([first, second]))).toEqual([0, 0]);
  expect(backend.replica.state.lessor.size).toBe(0);
  await clock.run(deleting);
});

test('what waits behind a long write has a bound, and those that were admitted keep their place', async () => {
  const node = await nodeWith({ waitingBytesMax: 20_000 });
  const { backend, clock } = node;
  const deleting = backend.txn(txnOf(deleteAll()), nodeItself);
  await turns(node, 1);
  const outcomes: Promise<ErrorCode | 'accepted'>[] = [];
  for (let at = 0; at < 100; at += 1) outcomes.push(refusal(backend.txn(put(`w${at}`, 'x'.repeat(400)), nodeItself)));
  expect(backend.leadership!.waitingBytes).toBeGreaterThan(19_000);
  expect(backend.leadership!.waitingBytes).toBeLessThan(22_000);
  // The delete's own records exceed the bound. Writes that were admitted before are not refused for that.
  await clock.run(deleting);
  const settled = await clock.run(Promise.all(outcomes));
  const accepted = settled.filter((outcome) => outcome === 'accepted').length;
  expect(accepted).toBeGreaterThan(15);
  expect(settled).toEqual([
    ...Array.from({ length: accepted }, () => 'accepted'),
    ...Array.from({ length: 100 - accepted }, () => 'TooManyRequests'),
  ]);
  expect(await count(node)).toBe(accepted);
  expect(backend.leadership!.waitingBytes).toBe(0);
});

test('a long write that takes too long is undone, answered, and those behind it have their turn', async () => {
  const node = await nodeWith({ requestTimeoutMs: 20 });
  const { backend, clock } = node;
  const before = backend.revision;
  const { assigned } = backend.leadership!;
  const puts: Op = { kind: 'txn', txn: txnOf(putOf('new', 'x', { lease: leaseId(0n) })) };
  const deleting = refusal(backend.txn(txnOf(puts, deleteAll()), nodeItself));
  await turns(node, 30);
  expect(backend.leadership!.assigned, 'it is being undone').toEqual({ revision: before, next: assigned.next });
  const behind = backend.txn(put('behind', 'x'), nodeItself);
  expect(await clock.run(deleting), String(node.fatal[0]?.cause)).toBe('Timeout');
  await clock.run(behind);
  expect(backend.leadership!.assigned).toEqual({ revision: before + 1, next: assigned.next + 1 });
  expect(backend.revision).toBe(before + 1);
  expect(await count(node)).toBe(KEYS + 1);
  expect(node.fatal).toEqual([]);
  checkQuiet(backend);
});

test('who waits too long behind a long write is answered, and what he wanted never happens', async () => {
  const gate = new Gate('append');
  const node = await nodeWith({ storage: new MemoryStorage(gate), requestTimeoutMs: 40, lease: 3n });
  const { backend, clock } = node;
  const before = backend.revision;
  // The end of a lease goes on after its caller was answered Timeout.
  const revoking = refusal(backend.leaseRevoke(leaseId(3n), nodeItself));
  const behind = refusal(backend.txn(put('behind', 'x'), nodeItself));
  expect(await clock.run(revoking)).toBe('Timeout');
  expect(await clock.run(behind)).toBe('Timeout');
  await clock.pass(1000);
  expect(backend.revision).toBe(before + 1);
  expect(await count(node)).toBe(0);
  expect(backend.replica.state.lessor.size).toBe(0);
  checkQuiet(backend);
});

test.each(['steps down', 'stops'] as const)(
  'a node that %s in the middle of a long write leaves no trace of it',
  async (ending) => {
    const storage = new MemoryStorage();
    const node = await nodeWith({ storage });
    const { backend, clock } = node;
    const before = backend.revision;
    const code = ending === 'stops' ? 'Stopped' : 'LeaderChanged';
    const puts: Op[] = Array.from({ length: 300 }, (_, at) => putOf(`new${at}`, 'x'));
    const small = refusal(backend.txn(put('small', 'x'), nodeItself));
    const long = refusal(backend.txn(txnOf(...puts, deleteAll()), nodeItself));
    await turns(node, 10);
    const behind = [
      refusal(backend.txn(put('behind', 'x'), nodeItself)),
      refusal(backend.leaseGrant(leaseId(1n), 10, nodeItself)),
    ];
    const ended = ending === 'stops' ? backend[Symbol.asyncDispose]() : backend.stepDown();
    expect(await clock.run(Promise.all([small, long, ...behind]))).toEqual(['accepted', code, code, code]);
    await clock.run(ended);
    expect(node.fatal).toEqual([]);
    if (ending === 'stops') {
      const again = await clock.run(openNode(storage.reopen(), { clock, epoch: 2 }));
      expect(again.backend.revision).toBe(before + 1);
      expect(await count(again)).toBe(KEYS + 1);
      return;
    }
    checkQuiet(backend);
    expect(backend.replica.state.index.liveKeys).toBe(KEYS + 1);
    await clock.run(backend.lead(epoch(9)));
    await clock.run(backend.txn(txnOf(deleteAll()), nodeItself));
    expect(backend.revision).toBe(before + 2);
    expect(await count(node)).toBe(1);
  },
);

test.each(['takes too long', 'loses its node the leadership'] as const)(
  'a write that waits for storage and %s waits no longer',
  async (ending) => {
    const gate = new Gate('get-many');
    const storage = new MemoryStorage({ gate: gate.gate, cold: true });
    const node = await nodeWith({ storage, cacheBytesMax: 0, requestTimeoutMs: 100 });
    const { backend, clock } = node;
    const before = backend.revision;
    gate.shut = true;
    const everyValue = { range: allKeys, result: 1, target: 3, number: 0, lease: leaseId(0n), value: EMPTY_BYTES };
    const comparing = refusal(backend.txn({ ...put('new', 'x'), compares: [everyValue] }, nodeItself));
    await turns(node, 5);
    const behind = refusal(backend.txn(put('behind', 'x'), nodeItself));
    if (ending === 'takes too long') {
      await clock.pass(80);
      const later = backend.txn(put('later', 'x'), nodeItself);
      expect(await clock.run(Promise.all([comparing, behind]))).toEqual(['Timeout', 'Timeout']);
      await clock.run(later);
      expect(backend.revision).toBe(before + 1);
    } else {
      await clock.run(backend.stepDown());
      expect(await clock.run(Promise.all([comparing, behind]))).toEqual(['LeaderChanged', 'LeaderChanged']);
      expect(backend.revision).toBe(before);
    }
    gate.open();
    await clock.pass(10);
    expect(node.fatal).toEqual([]);
    checkQuiet(backend);
  },
);

test('a leadership that is fenced in the middle of a long write undoes it before what came before it', async () => {
  let fault: AppendFault = 'none';
  const gate = new Gate('append');
  const storage = new MemoryStorage({ gate: gate.gate, append: () => fault });
  let deposed = 0;
  const node = await nodeWith({
    storage,
    onDeposed: () => {
      deposed += 1;
    },
  });
  const { backend, clock } = node;
  const before = backend.revision;
  gate.shut = true;
  const first = refusal(backend.txn(put('k00000', 'appending'), nodeItself));
  await turns(node, 1);
  const second = refusal(backend.txn(put('k00000', 'waiting'), nodeItself));
  const long = refusal(backend.txn(txnOf(deleteAll()), nodeItself));
  await turns(node, 10);
  fault = 'fenced';
  gate.open();
  expect(await clock.run(Promise.all([first, second, long]))).toEqual([
    'LeaderChanged',
    'LeaderChanged',
    'LeaderChanged',
  ]);
  await clock.pass(1000);
  expect(deposed).toBe(1);
  expect(node.fatal).toEqual([]);
  checkQuiet(backend);
  fault = 'none';
  await clock.run(backend.lead(epoch(9)));
  expect(backend.revision).toBe(before);
  expect(await count(node)).toBe(KEYS);
});

test('a transaction with too many changes is refused before the first one; overlapping deletes count once', async () => {
  const node = await nodeWith({ txnChangesMax: KEYS });
  const { backend, clock } = node;
  const before = backend.revision;
  const run = (...ops: Op[]): Promise<ErrorCode | 'accepted'> =>
    clock.run(refusal(backend.txn(txnOf(...ops), nodeItself)));
  expect(await run(deleteAll(), putOf('a', 'x'))).toBe('RequestTooLarge');
  expect(await run(putOf('a', 'x'), { kind: 'txn', txn: txnOf(deleteAll()) })).toBe('RequestTooLarge');
  expect(backend.revision).toBe(before);
  const half: Op = {
    kind: 'delete-range',
    range: { key: keyBytes(keyOf(1000)), end: Uint8Array.of(0) },
    prevKv: false,
  };
  expect(await run(deleteAll(), half, deleteAll())).toBe('accepted');
  expect(await count(node)).toBe(0);
});

test('a lease ends with all its keys, however many a transaction may have', async () => {
  const node = await nodeWith({ txnChangesMax: 200, lease: 4n });
  await node.clock.run(node.backend.leaseRevoke(leaseId(4n), nodeItself));
  expect(await count(node)).toBe(0);
});

test('an answer that would be too large is refused, and what was changed before it is undone', async () => {
  const node = await nodeWith({ txnAnswerBytesMax: 400_000 });
  const { backend, clock } = node;
  await clock.run(backend.leaseGrant(leaseId(6n), 100, nodeItself));
  const before = backend.revision;
  const run = (...ops: Op[]): Promise<ErrorCode | 'accepted'> =>
    clock.run(refusal(backend.txn(txnOf(...ops), nodeItself)));
  const leased = putOf('leased', 'x', { lease: leaseId(6n) });
  const one = everything();
  expect(await run(one)).toBe('accepted');
  expect(await run(one, one)).toBe('ResponseTooLarge');
  expect(await run(leased, one, one)).toBe('ResponseTooLarge');
  expect(await run(leased, deleteAll(true), one, one)).toBe('accepted');
  expect(backend.revision).toBe(before + 1);
  // Nothing is left of the refused transaction: neither its version nor its place in the lease.
  expect(await count(node)).toBe(1);
  await clock.run(backend.leaseRevoke(leaseId(6n), nodeItself));
  expect(await count(node)).toBe(0);
  // The same holds for a transaction of single keys, which does not give way.
  const points = Array.from({ length: 60 }, () => get('big'));
  await clock.run(backend.txn(put('big', 'x'.repeat(10_000)), nodeItself));
  expect(await run(putOf('point', 'x', { lease: leaseId(0n) }), ...points)).toBe('ResponseTooLarge');
  expect((await backend.range(get('point'), nodeItself)).count).toBe(0);
  expect(await run(putOf('point', 'x'))).toBe('accepted');
  checkQuiet(backend);
});

test.each(['takes too long', 'loses its node the leadership'] as const)(
  'a long write that is refused and %s while it is undone leaves no trace',
  async (ending) => {
    // The answer has room for two thirds of the keys. The changes and their end take some 25 turns each.
    const node = await nodeWith({ txnAnswerBytesMax: 2000 * (64 + 30), requestTimeoutMs: 40 });
    const { backend, clock } = node;
    const before = backend.revision;
    const long = refusal(backend.txn(txnOf(deleteAll(true)), nodeItself));
    if (ending === 'takes too long') {
      expect(await clock.run(long)).toBe('ResponseTooLarge');
      await clock.run(backend.txn(put('behind', 'x'), nodeItself));
      expect(backend.revision).toBe(before + 1);
      expect(await count(node)).toBe(KEYS + 1);
    } else {
      await turns(node, 35);
      await clock.run(backend.stepDown());
      expect(await clock.run(long)).toBe('LeaderChanged');
      expect(backend.replica.state.index.liveKeys).toBe(KEYS);
    }
    expect(node.fatal).toEqual([]);
    checkQuiet(backend);
  },
);

test('a put that the index has no page for is refused, and changes of known keys are not', async () => {
  const node = await nodeWith({ keys: 0, keyPagesMax: 40 });
  const { backend, clock } = node;
  const long = (at: number): string => `${'k'.repeat(17_000)}${at}`;
  const run = (...ops: Op[]): Promise<ErrorCode | 'accepted'> =>
    clock.run(refusal(backend.txn(txnOf(...ops), nodeItself)));
  let held = 0;
  while ((await run(putOf(long(held), 'x'))) === 'accepted') held += 1;
  expect(held).toBeGreaterThan(25);
  expect(await run(putOf(long(held), 'x'))).toBe('NoSpace');
  expect(await run(putOf(long(0), 'y'))).toBe('accepted');
  const known = Array.from({ length: 20 }, (_, at) => putOf(long(at), 'z'));
  expect(await run(...known), 'of no key a new page').toBe('accepted');
  expect(await run(...known, putOf(long(held), 'x')), 'and not a part of it').toBe('NoSpace');
  expect(await run({ kind: 'delete-range', range: everything().range, prevKv: false })).toBe('accepted');
  await clock.run(backend.compact(backend.revision, true, nodeItself));
  expect(await run(putOf(long(held), 'x'))).toBe('NoSpace'); // a compaction keeps the tombstones at its own revision
  await clock.run(backend.txn(put('small', 'x'), nodeItself).catch(() => undefined));
  expect(node.fatal).toEqual([]);
  checkQuiet(backend);
});

test('a lease with many keys ends in slices: its keys are all there until all are gone', async () => {
  const node = await nodeWith({ lease: 8n });
  const { backend, clock } = node;
  const lease = leaseId(8n);
  const before = backend.revision;
  let done = false;
  const revoking = backend.leaseRevoke(lease, nodeItself).finally(() => {
    done = true;
  });
  let seen = 0;
  for (; !done; seen += 1) {
    await turns(node, 1);
    const details = await clock.run(backend.leaseTimeToLive(lease, true, nodeItself));
    expect([undefined, KEYS]).toContain(details?.keys.length);
    if (backend.revision === before) expect(await count(node)).toBe(KEYS);
  }
  expect(seen).toBeGreaterThanOrEqual(2); // each list of its keys gives way itself
  expect(await clock.run(revoking)).toBe(before + 1);
  expect(backend.revision).toBe(before + 1);
  expect(await count(node)).toBe(0);
  expect(await clock.run(refusal(backend.leaseRevoke(lease, nodeItself)))).toBe('LeaseNotFound');
  checkQuiet(backend);
});

test('keys that move to another lease while it ends stay', async () => {
  const node = await nodeWith({ lease: 8n });
  const { backend, clock } = node;
  await clock.run(backend.leaseGrant(leaseId(9n), 1000, nodeItself));
  // The write is under way when the revoke begins, so its key is not in the lessor yet.
  const moving = backend.txn(
    txnOf(putOf(keyOf(1), 'moved', { lease: leaseId(9n) }), putOf(keyOf(KEYS + 1), 'x', { lease: leaseId(8n) })),
    nodeItself,
  );
  const revoking = backend.leaseRevoke(leaseId(8n), nodeItself);
  await clock.run(Promise.all([moving, revoking]));
  const kept = await backend.range(everything({ keysOnly: true }), nodeItself);
  expect(kept.count).toBe(1);
  const details = await clock.run(backend.leaseTimeToLive(leaseId(9n), true, nodeItself));
  expect([...(details?.keys ?? [])].map(keyText)).toEqual([keyOf(1)]);
});

test('leases that end together take turns with everybody else', async () => {
  const node = await nodeWith({ keys: 0 });
  const { backend, clock } = node;
  const LEASES = 200;
  for (let id = 1; id <= LEASES; id += 1) {
    await clock.run(backend.leaseGrant(leaseId(BigInt(id)), 10, nodeItself));
    const puts = Array.from({ length: 20 }, (_, at) => putOf(`${id}/${at}`, 'x', { lease: leaseId(BigInt(id)) }));
    await clock.run(backend.txn(txnOf(...puts), nodeItself));
  }
  const before = backend.revision;
  await clock.pass(9000);
  const fired = clock.scheduler.fired;
  let turnsTaken = 0;
  for (let waited = 0; backend.replica.state.lessor.size > 0 && waited < 5000; waited += 1) {
    await turns(node, 1);
    turnsTaken += 1;
  }
  expect(backend.replica.state.lessor.size).toBe(0);
  expect(backend.revision).toBe(before + LEASES);
  // 4,000 deletions of a step or two in slices of 80.
  expect(clock.scheduler.fired - fired).toBeGreaterThan(45);
  expect(turnsTaken).toBeGreaterThan(45);
  expect(await count(node)).toBe(0);
});
