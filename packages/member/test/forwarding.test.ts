import { type Backend, type Caller, nodeItself } from '@engram/backend';
import {
  rangeOp,
  EMPTY_BYTES,
  EngramError,
  epoch,
  isEngramError,
  keyBytes,
  keyText,
  leaseId,
  putOp,
  type Txn,
} from '@engram/core';
import { decodeKeyValue } from '@engram/coder';
import { describe, expect, test, vi } from 'vitest';
import * as peerpb from '../src/gen/peerpb.ts';
import { Group, type TestMember, TIMEOUT_MS } from './forwarding-group.ts';

const put = (key: string, value: string, prevKv = false): Txn => ({
  compares: [],
  success: [putOp(keyBytes(key), keyBytes(value), { prevKv })],
  failure: [],
});

/** kube-apiserver's update: puts the value if the key is unchanged, else reads the key. */
const update = (key: string, mod: number, value: string): Txn => ({
  compares: [
    {
      range: { key: keyBytes(key), end: EMPTY_BYTES },
      result: 0,
      target: 2,
      number: mod,
      lease: leaseId(0n),
      value: EMPTY_BYTES,
    },
  ],
  success: put(key, value, true).success,
  failure: [range(key)],
});

const range = (key: string) => rangeOp({ key: keyBytes(key), end: EMPTY_BYTES }, { serializable: true });

async function value(backend: Backend, key: string): Promise<string | undefined> {
  const [kv] = [...(await backend.range(range(key), nodeItself)).kvs];
  return kv === undefined ? undefined : Buffer.from(decodeKeyValue(kv).value).toString();
}

test('a write at a follower is the leader’s, and is answered when the follower has it', async () => {
  const group = await Group.open();
  const { backend } = group.member(2n);
  const answer = await group.run(backend.txn(put('k', 'v'), nodeItself));
  expect(answer).toMatchObject({ revision: 2, succeeded: true });
  expect(backend.revision).toBe(2);
  expect(await value(backend, 'k')).toBe('v');
  const changed = await group.run(backend.txn(update('k', 2, 'w'), nodeItself));
  expect(changed).toMatchObject({ revision: 3, succeeded: true });
  const [answered] = changed.responses;
  expect(answered?.kind === 'put' && Buffer.from(decodeKeyValue(answered.prevKv!).value).toString()).toBe('v');
  const refused = await group.run(backend.txn(update('k', 2, 'x'), nodeItself));
  expect(refused).toMatchObject({ succeeded: false, responses: [{ kind: 'range', count: 1 }] });
});

test('refusals, leases, alarms and compactions pass as well', async () => {
  const group = await Group.open();
  const { backend } = group.member(3n);
  const lease = await group.run(backend.leaseGrant(leaseId(7n), 30, nodeItself));
  expect(lease).toMatchObject({ id: 7n, grantedTtlSeconds: 30 });
  expect(await refusal(group.run(backend.leaseGrant(leaseId(7n), 30, nodeItself)))).toBe('LeaseExist');
  expect(await group.run(Promise.resolve(backend.leaseKeepAlive(leaseId(7n), nodeItself)))).toBe(30);
  expect(await group.run(Promise.resolve(backend.leaseKeepAlive(leaseId(8n), nodeItself)))).toBe(0);
  expect(await group.run(backend.leaseTimeToLive(leaseId(7n), true, nodeItself))).toMatchObject({ keys: [] });
  expect(await group.run(backend.leases('by-id', nodeItself))).toMatchObject([{ id: 7n, grantedTtlSeconds: 30 }]);
  await group.run(backend.leaseRevoke(leaseId(7n), nodeItself));
  expect(await refusal(group.run(backend.leaseRevoke(leaseId(7n), nodeItself)))).toBe('LeaseNotFound');
  expect(await refusal(group.run(backend.compact(50, false, nodeItself)))).toBe('FutureRev');
  await group.run(backend.txn(put('k', 'v'), nodeItself));
  await group.run(backend.compact(2, false, nodeItself));
  expect(backend.compactRevision).toBe(2);
  await group.run(backend.activateAlarm({ memberId: 3n, alarm: 1 }, nodeItself));
  expect(backend.alarms()).toEqual([{ memberId: 3n, alarm: 1 }]);
  expect(await group.run(backend.deactivateAlarm({ memberId: 3n, alarm: 1 }, nodeItself))).toBe(true);
});

test('the leader’s work for a forwarded call belongs to the span in which the client called', async () => {
  const group = await Group.open();
  const { backend } = group.member(2n);
  const trace = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), flags: 1 };
  group.ways.push('lost-before');
  await group.run(backend.txn(put('k', 'v'), { ...nodeItself, trace }));
  await group.run(backend.leaseGrant(leaseId(7n), 30, { ...nodeItself, trace }));
  expect(await refusal(group.run(backend.compact(50, false, nodeItself)))).toBe('FutureRev');
  const spans = group.tracer.spans.filter(({ name, from }) => from === 'member' && name !== 'readIndex');
  expect(spans).toMatchObject([
    { name: 'txn', from: 'member', parent: trace, ends: 1, error: undefined },
    { name: 'leaseGrant', from: 'member', parent: trace, ends: 1, error: undefined },
    { name: 'compact', from: 'member', parent: undefined, ends: 1, error: { code: 'FutureRev' } },
  ]);
  // Between members it is one field, which the version before does not know, and which is not there where nobody traces.
  const writes = group.requests.map(peerpb.decodeRequest).filter(({ sequence }) => sequence > 0);
  expect(writes.map(({ trace: said }) => said.length)).toEqual([25, 25, 25, 0]);
});

test('a call that is recorded has a span for its way to the leader, with all tries, and the leader’s part is in it', async () => {
  const group = await Group.open();
  const { backend } = group.member(2n);
  const span = group.tracer.begin({ method: 'put', from: 'client', parent: undefined })!;
  group.ways.push('lost-before');
  await group.run(backend.txn(put('k', 'v'), { ...nodeItself, span, trace: span.context }));
  const other = group.tracer.begin({ method: 'compact', from: 'client', parent: undefined })!;
  const refused = backend.compact(50, false, { ...nodeItself, span: other, trace: other.context });
  expect(await refusal(group.run(refused))).toBe('FutureRev');
  expect(group.tracer.tree(span.context.traceId)).toEqual(['put', '  forward', '    txn', '      append']);
  expect(group.tracer.tree(other.context.traceId)).toEqual(['compact', '  forward', '    compact']);
  expect(group.tracer.spans.filter(({ name }) => name === 'forward')).toMatchObject([
    { kind: 'client', attributes: { call: 'txn' }, ends: 1, error: undefined },
    { kind: 'client', attributes: { call: 'compact' }, ends: 1, error: { code: 'FutureRev' } },
  ]);
});

const leased = (key: string): Txn => ({
  compares: [],
  success: [putOp(keyBytes(key), keyBytes('v'), { lease: leaseId(7n) })],
  failure: [],
});

/** Ends the lease 7 when its keys are listed here for the first time, and grants it again for 60 s, with the key `new`. */
function grantsAgain(by: Backend, when: 'before' | 'after'): void {
  const { replica } = by;
  const { leaseKeys } = replica;
  replica.leaseKeys = async (id, caller) => {
    replica.leaseKeys = leaseKeys;
    const listed = await replica.leaseKeys(id, caller);
    await by.leaseRevoke(id, nodeItself);
    await by.leaseGrant(id, 60, nodeItself);
    await by.txn(leased('new'), nodeItself);
    return when === 'after' ? listed : replica.leaseKeys(id, caller);
  };
}

describe.each(['before', 'after'] as const)('a lease that is granted again %s its keys are listed', (when) => {
  const id = leaseId(7n);

  test('is told with the keys and the time of one grant', async () => {
    const group = await Group.open();
    const { backend } = group.member(3n);
    await group.run(backend.leaseGrant(id, 30, nodeItself));
    await group.run(backend.txn(leased('old'), nodeItself));
    grantsAgain(backend, when);
    const lease = await group.run(backend.leaseTimeToLive(id, true, nodeItself));
    expect(lease?.grantedTtlSeconds).toBe(60);
    expect([...(lease?.keys ?? [])].map(keyText)).toEqual(['new']);
  });

  test('is told so too where the leader lists the keys for a member', async () => {
    const group = await Group.open();
    const { backend, calls } = group.member(1n);
    await group.run(backend.leaseGrant(id, 30, nodeItself));
    await group.run(backend.txn(leased('old'), nodeItself));
    grantsAgain(backend, when);
    const request = peerpb.encodeRequest({ member: 3n, leaseTimeToLive: { id, keys: true } });
    const bytes = await group.run(calls.call(request, { member: 3n, signal: nodeItself.signal }));
    const { lease } = peerpb.decodeAnswer(bytes);
    expect(lease?.grantedTtlSeconds).toBe(60);
    expect(lease?.keys.map(keyText)).toEqual(['new']);
  });
});

test('what a member does for a call that is not recorded has no span', async () => {
  const group = await Group.open();
  group.tracer.samples = false;
  const before = group.tracer.spans.length;
  await group.run(group.member(2n).backend.txn(put('k', 'v'), nodeItself));
  expect(group.tracer.spans).toHaveLength(before);
});

test('a trace context that another member says wrong is ignored', async () => {
  const group = await Group.open();
  const request = { member: 2n, leaseTimeToLive: { id: 7n, keys: false }, trace: new Uint8Array(25) };
  const caller = { member: 2n, signal: nodeItself.signal };
  for (const trace of [request.trace, Uint8Array.of(1, 2, 3), new Uint8Array(5000).fill(7)]) {
    const bytes = await group.run(group.member(1n).calls.call(peerpb.encodeRequest({ ...request, trace }), caller));
    expect(peerpb.decodeAnswer(bytes).error).toBe('');
  }
  const spans = group.tracer.spans.filter(({ name }) => name === 'leaseTimeToLive');
  expect(spans.map(({ parent }) => parent)).toEqual([undefined, undefined, undefined]);
});

test.each([
  { ways: ['unsent', 'unsent'], why: 'nothing was sent' },
  { ways: ['lost-before'], why: 'the call was lost on its way' },
  { ways: ['lost-after'], why: 'the answer was lost' },
  { ways: ['lost-after', 'lost-after', 'unsent', 'lost-before'], why: 'all of it' },
] as const)('while one leader lasts a write is done once: $why', async ({ ways }) => {
  const group = await Group.open();
  const { backend } = group.member(2n);
  group.ways.push(...ways);
  const answer = await group.run(backend.txn(put('k', 'v', true), nodeItself));
  expect(answer).toMatchObject({ revision: 2, responses: [{ kind: 'put', prevKv: undefined }] });
  expect(group.log.batches.flatMap(({ records }) => records)).toHaveLength(2); // the put and its origin
});

test.each([
  { way: 'lost-before', records: 3, why: 'it is sent to the next one' },
  { way: 'lost-after', records: 3, why: 'it is found in the log' },
  { way: 'silent-before', records: 3, why: 'it is sent to the next one, though the connection stands' },
  { way: 'silent-after', records: 3, why: 'it is found in the log, though the connection stands' },
] as const)('a write whose leader is gone, $way: $why, once, with its answer', async ({ way, records }) => {
  const group = await Group.open();
  const { backend } = group.member(2n);
  await group.run(backend.txn(put('k', 'v'), nodeItself));
  const before = group.log.batches.flatMap((batch) => batch.records).length;
  group.ways.push(way);
  const answer = backend.txn(update('k', 2, 'w'), nodeItself);
  await group.clock.settle(3);
  await group.elect(3n, 5);
  const { responses, ...rest } = await group.run(answer);
  expect(rest).toMatchObject({ kind: 'txn', revision: 3, succeeded: true });
  const [answered] = responses;
  expect(answered?.kind === 'put' && Buffer.from(decodeKeyValue(answered.prevKv!).value).toString()).toBe('v');
  expect(group.log.batches.flatMap((batch) => batch.records).length - before).toBe(records - 1);
  expect(group.members.flatMap(({ fatal }) => fatal)).toEqual([]);
});

test('a deposed leader that does not know it gives its followers nothing that is not in the log', async () => {
  const group = await Group.open();
  const [one, two, three] = group.members as [TestMember, TestMember, TestMember];
  await group.run(two.backend.txn(put('k', '1'), nodeItself));
  await group.elect(3n, 9, [3n]); // no other member learns of it
  const late = refusal(one.backend.txn(put('k', 'never'), nodeItself));
  await group.run(three.backend.txn(put('k', '2'), nodeItself));
  expect(await late).toBe('LeaderChanged');
  await group.elect(2n, 10);
  for (const { backend } of group.members) {
    await group.run(Promise.resolve(backend.range({ ...range('k'), serializable: false }, nodeItself)));
    expect(await value(backend, 'k')).toBe('2');
    expect(backend.revision).toBe(3);
  }
  expect(group.members.flatMap(({ fatal }) => fatal)).toEqual([]);
});

test.each([
  {
    call: 'a write',
    code: 'Timeout',
    ask: (backend: Backend): Promise<unknown> => backend.txn(put('k', 'v'), nodeItself),
  },
  {
    call: 'a read',
    code: 'Timeout',
    ask: (backend: Backend): Promise<unknown> =>
      Promise.resolve(backend.range({ ...range('k'), serializable: false }, nodeItself)),
  },
])('$call of a leader that says nothing ends by the request’s timeout', async ({ code, ask }) => {
  const group = await Group.open();
  const { backend } = group.member(2n);
  group.ways.push('silent-after');
  const startMs = group.clock.nowMs();
  expect(await refusal(group.run(ask(backend)))).toBe(code);
  expect(group.clock.nowMs() - startMs).toBeLessThan(TIMEOUT_MS + 1000);
});

test('renewals that go together end each for itself: refused, failed, slow', async () => {
  const group = await Group.open();
  const { backend } = group.member(2n);
  const slow = Promise.withResolvers<number>();
  const asked: bigint[] = [];
  vi.spyOn(group.member(1n).backend.leadership!, 'leaseKeepAlive').mockImplementation((id) => {
    asked.push(id);
    if (id === 1n) throw new EngramError('TooManyRequests');
    if (id === 2n) throw new Error('cannot read');
    return id === 3n ? slow.promise : 60;
  });
  const renewals = [1n, 2n, 3n, 4n].map((id) => Promise.resolve(backend.leaseKeepAlive(leaseId(id), nodeItself)));
  const [first, second, third, fourth] = renewals;
  const refused = refusal(first!);
  const failed = refusal(second!);
  expect(await group.run(fourth!)).toBe(60);
  expect(await group.run(refused)).toBe('TooManyRequests');
  expect(await group.run(failed)).toBe('Timeout');
  slow.resolve(30);
  expect(await group.run(third!)).toBe(30);
  expect(asked).toEqual([1n, 2n, 3n, 4n, 3n]);
});

test('renewals that are answered together end in slices of the loop', async () => {
  const RENEWALS = 100;
  const group = await Group.open();
  const { backend } = group.member(2n);
  const { loop } = backend.replica;
  vi.spyOn(group.member(1n).backend.leadership!, 'leaseKeepAlive').mockReturnValue(60);
  // Each question ends a slice.
  vi.spyOn(loop, 'shouldYield').mockReturnValue(true);
  const before = loop.usage.get('client')!.slices;
  const { calls } = group;
  const renewals = Array.from({ length: RENEWALS }, (_, id) =>
    Promise.resolve(backend.leaseKeepAlive(leaseId(BigInt(id)), nodeItself)),
  );
  expect(await group.run(Promise.all(renewals))).toEqual(renewals.map(() => 60));
  expect(group.calls - calls).toBe(1);
  expect(loop.usage.get('client')!.slices - before).toBeGreaterThan(RENEWALS / 2);
});

test('a write for which no leader comes ends by the request’s timeout, and has not happened', async () => {
  const group = await Group.open();
  const { backend, known } = group.member(2n);
  known.set(undefined);
  const { calls } = group;
  expect(await refusal(group.run(backend.txn(put('k', 'v'), nodeItself)))).toBe('Timeout');
  expect(group.calls).toBe(calls);
});

async function refusal(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'accepted';
  } catch (error) {
    if (isEngramError(error)) return error.code;
    throw error;
  }
}

test('a client that gives up ends its write while no leader is known, and not once the write was sent', async () => {
  const group = await Group.open();
  const { backend, known } = group.member(2n);
  const gone = new AbortController();
  const caller: Caller = { ...nodeItself, signal: gone.signal };
  known.set(undefined);
  const waiting = refusal(backend.txn(put('never', 'x'), caller));
  await group.clock.settle();
  gone.abort(new EngramError('Timeout'));
  expect(await group.run(waiting)).toBe('Timeout');
  known.set({ memberId: 1n, epoch: epoch(2) });
  // A write that is sent at once does not ask for the signal, whose making costs as much as a good part of it.
  const silent: Caller = {
    ...nodeItself,
    get signal(): AbortSignal {
      throw new Error('a signal was made');
    },
  };
  expect(await group.run(backend.txn(put('k', 'v'), silent))).toMatchObject({ revision: 2 });
  expect(await value(backend, 'never')).toBeUndefined();
});

test('a read whose leader stops meanwhile is asked of whoever leads next', async () => {
  const group = await Group.open();
  const { backend } = group.member(2n);
  group.stops = true;
  const read = Promise.resolve(backend.range({ ...range('k'), serializable: false }, nodeItself));
  group.clock.after(200, () => {
    group.stops = false;
  });
  expect(await group.run(read)).toMatchObject({ count: 0, revision: 1 });
});

test('a write that an earlier leadership of the same member has done is not done by a later one', async () => {
  const group = await Group.open();
  const leader = group.member(1n);
  const { backend, known } = group.member(2n);
  const pass = (ms: number): Promise<void> => group.run(new Promise((resolve) => void group.clock.after(ms, resolve)));
  group.ways.push('lost-after', 'unsent', 'unsent', 'unsent');
  const writing = backend.txn(put('k', '1'), nodeItself);
  await pass(100);
  await leader.backend.stepDown();
  await group.elect(1n, 3, [1n, 3n]);
  await pass(1000);
  expect(leader.backend.revision, 'the follower has not heard of the new epoch').toBe(2);
  known.set({ memberId: 1n, epoch: epoch(3) });
  expect(await group.run(writing)).toMatchObject({ revision: 2 });
  expect(leader.backend.revision).toBe(2);
});

test('a copy of a write that arrives when the write was answered is not done again', async () => {
  const group = await Group.open();
  const { backend: leader } = group.member(1n);
  const { backend } = group.member(2n);
  group.ways.push('late');
  expect(await group.run(backend.txn(put('k', '1'), nodeItself))).toMatchObject({ revision: 2 });
  expect(await group.run(backend.txn(put('k', '2'), nodeItself))).toMatchObject({ revision: 3 });
  expect(group.late).toHaveLength(1);
  await group.run(group.late[0]!());
  expect(leader.revision).toBe(3);
  expect(await value(leader, 'k')).toBe('2');
});
