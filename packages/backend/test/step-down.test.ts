import { type Backend, nodeItself, openReplica } from '@engram/backend';
import { EMPTY_BYTES, epoch, isEngramError, keyBytes, leaseId, type LogPosition, prefixRange } from '@engram/core';
import { Loop } from '@engram/loop';
import { SimCopy, Prng, quiet, SharedLog, SharedLogStorage, SimClock } from '@engram/sim';
import { type AppendFault, MemoryStorage, type Storage, StorageFencedError } from '@engram/storage';
import { expect, test } from 'vitest';
import { recover } from '../src/replica/recovery.ts';
import { type Node, openNode, type RecordingSink, watchAll } from './harness.ts';
import { picture } from './picture.ts';
import { checkQuiet, everything, Gate, get, put, putOf, refusal, remove, txnOf } from './ops.ts';

/** The state of a node that starts now from the same storage. */
async function freshPicture(storage: Storage): Promise<unknown> {
  const clock = new SimClock();
  const { signal } = nodeItself;
  const options = { minLeaseTtlSeconds: 2, clock, loop: new Loop({ clock }), logger: quiet, signal };
  const { applier } = await recover(storage, options);
  const { state } = applier;
  state.index.verify();
  const dropped: LogPosition[] = [];
  if (state.compactRevision >= 0) state.index.compact(state.compactRevision, Number.MAX_SAFE_INTEGER, dropped);
  return picture(state);
}

async function expectAsFresh({ backend, clock }: Node, storage: Storage, why: string): Promise<void> {
  await backend.replica.freeCompacted();
  await clock.settle(100); // watchers that were behind have read what they need
  checkQuiet(backend);
  expect(picture(backend.replica.state), why).toEqual(await freshPicture(storage));
}

function randomCall(backend: Backend, prng: Prng): Promise<unknown> {
  const key = `k${prng.below(12)}`;
  const lease = leaseId(BigInt(1 + prng.below(4)));
  switch (prng.below(15)) {
    case 12:
      return backend.txn(txnOf({ kind: 'delete-range', range: prefixRange(keyBytes('k')), prevKv: true }), nodeItself);
    case 13: {
      const some = everything({ keysOnly: prng.chance(0.5) });
      return backend.txn(txnOf(some, { kind: 'txn', txn: put(key, 'nested', { lease }) }, some), nodeItself);
    }
    case 14: {
      const all = {
        range: everything().range,
        result: 1,
        target: 2,
        number: 0,
        lease: leaseId(0n),
        value: EMPTY_BYTES,
      };
      return backend.txn({ ...put(key, 'compared', { prevKv: true }), compares: [all] }, nodeItself);
    }
    case 0:
      return backend.leaseGrant(lease, 1000, nodeItself);
    case 1:
      return backend.leaseRevoke(lease, nodeItself);
    case 2:
      return backend.txn(put(key, 'leased', { lease }), nodeItself);
    case 3:
      return backend.compact(backend.revision - prng.below(4), prng.chance(0.2), nodeItself);
    case 4:
      return backend.txn(remove(key), nodeItself);
    case 5: {
      const alarm = { memberId: 1n, alarm: 3 };
      return prng.chance(0.5) ? backend.activateAlarm(alarm, nodeItself) : backend.deactivateAlarm(alarm, nodeItself);
    }
    case 6:
      return backend.txn(txnOf(get(key), putOf(key, 'x'), putOf('other', key)), nodeItself);
    case 7:
      return backend.txn(put(key, '', { ignoreValue: true }), nodeItself);
    case 8:
      return backend.defragment();
    default:
      return backend.txn(put(key, `${prng.uint32()}`), nodeItself);
  }
}

const SEED = Number(process.env['SEED'] ?? 1);
const RUNS = Number(process.env['RUNS'] ?? 40);

test.each(Array.from({ length: RUNS }, (_, run) => SEED + run))(
  'a leadership that ends under load leaves what the log says, and the node leads again (SEED=%i)',
  async (seed) => {
    const prng = new Prng(seed);
    let fault: AppendFault = 'none';
    const storage = new MemoryStorage({
      cold: prng.chance(0.5),
      gate: () => (prng.chance(0.6) ? laterTurn(1 + prng.below(3)) : undefined),
      append: () => {
        const now = fault;
        fault = 'none';
        return now;
      },
    });
    let deposed = 0;
    const node = await openNode(storage, {
      cacheBytesMax: prng.below(3) * 500,
      checkpointEveryBytes: 300,
      // In every second run, work in slices gives way after each step.
      ...(prng.chance(0.5) ? { sliceSteps: 1 } : {}),
      onDeposed: () => {
        deposed += 1;
      },
    });
    const { backend, clock, fatal } = node;
    const sink = watchAll(node, 2);
    for (let round = 1; round <= 6; round += 1) {
      const calls: Promise<unknown>[] = [];
      for (let call = 0; call < 40; call += 1) {
        calls.push(randomCall(backend, prng).catch(refused));
        if (prng.chance(0.3)) await clock.settle(1);
      }
      const before = deposed;
      if (prng.chance(0.5)) {
        fault = 'fenced';
        while (deposed === before) {
          calls.push(backend.txn(put('last', `${round}`), nodeItself).catch(refused));
          await clock.settle(1);
        }
      } else await backend.stepDown();
      await Promise.all(calls);
      await backend.replica.whenApplied();
      await expectAsFresh(node, storage, `after leadership ${round}`);
      await backend.lead(epoch(1 + round * 10));
      await backend.txn(put('again', `${round}`), nodeItself);
    }
    await expectAsFresh(node, storage, 'at the end');
    await clock.settle();
    expectWhole(sink, backend.revision);
    expect(fatal).toEqual([]);
    await backend[Symbol.asyncDispose]();
  },
);

/** Expects each revision once, in order, unless a compaction has removed some. */
function expectWhole(sink: RecordingSink, last: number): void {
  if (sink.compactions.length > 0) return;
  expect(sink.groups.map((group) => group.revision)).toEqual(Array.from({ length: last - 1 }, (_, at) => at + 2));
}

function laterTurn(turns: number): Promise<void> {
  return new Promise((resolve) => {
    let left = turns;
    const turn = (): void => {
      left -= 1;
      if (left < 0) resolve();
      else setImmediate(turn);
    };
    turn();
  });
}

function refused(error: unknown): void {
  if (!isEngramError(error)) throw error;
}

test('stepping down fails what the log has not taken, lets what it has taken take effect, and accepts nothing more', async () => {
  const append = new Gate('append');
  const storage = new MemoryStorage(append);
  const node = await openNode(storage);
  const { backend, clock } = node;
  append.shut = true;
  const under = refusal(backend.txn(put('a', '1'), nodeItself));
  await clock.settle();
  const waiting = refusal(backend.txn(put('a', '2'), nodeItself));
  const grant = refusal(backend.leaseGrant(leaseId(9n), 100, nodeItself));
  const down = backend.stepDown();
  expect(await Promise.all([waiting, grant])).toEqual(['LeaderChanged', 'LeaderChanged']);
  expect(await refusal(backend.txn(put('b', '1'), nodeItself))).toBe('NoLeader');
  append.open();
  await down;
  expect(await under).toBe('accepted');
  expect(await refusal(Promise.resolve().then(() => backend.range(get('a'), nodeItself)))).toBe('NoLeader');
  const local = await backend.range(get('a', { serializable: true }), nodeItself);
  expect(local.count).toBe(1);
  await expectAsFresh(node, storage, 'after it');
});

test('every lease has its time again at a takeover, and none ends while nobody leads', async () => {
  const { backend, clock } = await openNode(new MemoryStorage());
  await backend.leaseGrant(leaseId(1n), 10, nodeItself);
  await backend.txn(put('k', 'v', { lease: leaseId(1n) }), nodeItself);
  clock.advance(9000);
  await backend.stepDown();
  clock.advance(60_000);
  await clock.settle();
  expect(backend.replica.state.lessor.size).toBe(1);
  await backend.lead(epoch(5));
  clock.advance(9000);
  await clock.settle();
  expect(backend.replica.state.lessor.size).toBe(1);
  clock.advance(2000);
  await clock.settle();
  expect(backend.replica.state.lessor.size).toBe(0);
  expect((await backend.range(get('k'), nodeItself)).count).toBe(0);
});

test('a node does not lead again when the last append of its leadership turns out to be uncertain', async () => {
  let fault: AppendFault = 'none';
  const gate = new Gate('append');
  const storage = new MemoryStorage({ gate: gate.gate, append: () => fault });
  const { backend, clock } = await openNode(storage);
  gate.shut = true;
  const waiting = refusal(backend.txn(put('k', 'x'), nodeItself));
  await clock.settle();
  const down = backend.stepDown();
  const again = refusal(backend.lead(epoch(2)));
  fault = 'uncertain-lost';
  gate.open();
  expect(await waiting).toBe('Stopped');
  await down;
  expect(await again).toBe('Stopped');
  expect(backend.leadership).toBeUndefined();
});

test('a takeover that another one has overtaken takes nothing of the later epoch, and is refused', async () => {
  const log = new SharedLog('log');
  const gate = new Gate('read');
  const slow = await openReplica({
    storage: new SharedLogStorage(log, new SimCopy(), { gate: gate.gate }),
    clock: new SimClock(),
    random: new Prng(7),
    logger: quiet,
    memberId: 2n,
    onFatal: (error) => expect(error).toBeUndefined(),
  });
  const { backend: first } = await openNode(new SharedLogStorage(log, new SimCopy()), { epoch: 1 });
  await first.txn(put('k', 'first'), nodeItself);
  gate.shut = true;
  const taken = slow.lead(epoch(2)).catch((error: unknown) => error);
  await new SimClock().settle();
  expect(log.sealed.epoch).toBe(2);
  const { backend: second } = await openNode(new SharedLogStorage(log, new SimCopy()), { epoch: 3 });
  await second.txn(put('k', 'second'), nodeItself);
  gate.open();
  expect(await taken).toBeInstanceOf(StorageFencedError);
  expect(slow.leadership).toBeUndefined();
  expect(slow.revision).toBe(2);
});

test.each([
  { what: 'an answer', txn: txnOf(everything(), ...remove('nowhere').success) },
  { what: 'a refusal', txn: put('nowhere', '', { ignoreValue: true }) },
])('$what of an earlier leadership is not confirmed by a later one of the same node', async ({ txn }) => {
  const clock = new SimClock();
  const confirmed = Promise.withResolvers<void>();
  const backend = await openReplica({
    storage: new MemoryStorage(),
    clock,
    random: new Prng(7),
    logger: quiet,
    memberId: 1n,
    cluster: {
      get leader(): never {
        throw new Error('no other member leads');
      },
      readIndex: async () => undefined,
      confirm: () => confirmed.promise,
    },
    onFatal: (error) => expect.fail(String(error)),
  });
  await backend.lead(epoch(1));
  const outcome = refusal(backend.txn(txn, nodeItself));
  await clock.settle();
  const stepped = backend.stepDown();
  await clock.settle();
  await stepped;
  await backend.lead(epoch(2));
  confirmed.resolve();
  expect(await outcome).toBe('LeaderChanged');
});
