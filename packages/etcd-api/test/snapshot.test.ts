import { createHash } from 'node:crypto';
import { describe, expect, test, vi } from 'vitest';
import { readBuckets } from '@engram/bbolt/testing';
import { Loop, StepPace, type Task } from '@engram/loop';
import { SimClock } from '@engram/sim';
import { etcdserverpb, leasepb, mvccpb, joinMessage } from '@engram/wire';
import { pace } from '../src/snapshot/pace.ts';
import { snapshotMessages } from '../src/snapshot/snapshot-messages.ts';
import { ALL, Api, b, member, t } from './api.ts';

const never = new AbortController().signal;
describe('the pace of a snapshot', () => {
  test.each([
    { workedMs: 0.4, pauseMs: 0, why: 'a slice that took nothing is followed by a turn alone' },
    { workedMs: 3, pauseMs: 3, why: 'half of the time is for others' },
    { workedMs: 60_000, pauseMs: 10, why: 'a slow client gave them theirs already' },
  ])('after $workedMs ms of work a pause of $pauseMs: $why', async ({ workedMs, pauseMs }) => {
    const clock = new SimClock();
    const { pause: turn } = pace(new Loop({ clock }), clock, never);
    clock.advance(workedMs);
    let over = false;
    const pause = turn().then(() => {
      over = true;
    });
    if (pauseMs > 0) {
      clock.advance(pauseMs - 1);
      await clock.settle();
      expect(over).toBe(false);
      clock.advance(1);
    }
    await pause;
    expect(clock.waiting).toBe(0);
  });

  test('ends with the reason when nobody wants the file any more', async () => {
    const gone = new AbortController();
    const clock = new SimClock();
    const { pause: turn } = pace(new Loop({ clock }), clock, gone.signal);
    gone.abort(new Error('gone'));
    await expect(turn()).rejects.toThrow('gone');
  });

  test('goes on in a slice of the loop, behind work that is more urgent', async () => {
    const clock = new SimClock();
    const loop = new Loop({ clock });
    const { pause: turn } = pace(loop, clock, never);
    const order: string[] = [];
    const list: Task = { work: 'client', caller: 'a connection', stage: 'list' };
    const pause = turn().then(() => order.push('snapshot'));
    const listing = Array.from({ length: 3 }, () => loop.pause(list).then(() => order.push('list')));
    expect([loop.waiting('background'), loop.waiting('client')]).toEqual([1, 3]);
    await Promise.all([pause, ...listing]);
    expect(order).toEqual(['list', 'list', 'list', 'snapshot']);
  });
});

describe('messages', () => {
  async function* chunks(): AsyncGenerator<Uint8Array> {
    yield image.subarray(0, 40 * 1024);
    yield image.subarray(40 * 1024, 40 * 1024 + 5);
    yield image.subarray(40 * 1024 + 5);
  }
  const image = Uint8Array.from({ length: 70 * 1024 }, (_, at) => at * 7);

  test('edge 120: blobs count down to zero, then their hash', async () => {
    const parts: etcdserverpb.SnapshotResponse[] = [];
    const taking = Promise.resolve({ bytes: image.length, chunks: chunks() });
    for await (const message of snapshotMessages(() => taking, '3.6.0')) {
      parts.push(etcdserverpb.decodeSnapshotResponse(joinMessage(message)));
    }
    const last = parts.pop()!;
    expect(parts.map((part) => part.blob.length)).toEqual([32 * 1024, 32 * 1024, 6 * 1024]);
    expect(Buffer.concat(parts.map((part) => part.blob)).equals(image)).toBe(true);
    expect(Buffer.from(last.blob)).toEqual(createHash('sha256').update(image).digest());
    let remaining = image.length;
    for (const part of parts) {
      remaining -= part.blob.length;
      expect(part).toMatchObject({ remainingBytes: remaining, version: '3.6.0', header: undefined });
    }
    expect([remaining, last.remainingBytes]).toEqual([0, 0]);
  });
});

describe('of a node', () => {
  const open = (api: Api) => api.serverStream('/etcdserverpb.Maintenance/Snapshot', new Uint8Array(0));
  const database = (sent: readonly Uint8Array[]): Buffer =>
    Buffer.concat(sent.slice(0, -1).map((bytes) => etcdserverpb.decodeSnapshotResponse(bytes).blob));
  const main = (key: Buffer): number => Number(key.readBigInt64BE(0));

  test("it is etcd's own database", async () => {
    await using api = await Api.open();
    await api.grant(60, -5n);
    await api.put({ key: b('leased'), value: b('1'), lease: -5n });
    await api.fill('a', 'b', 'a');
    await api.deleteRange({ key: b('b') });
    await api.txn({ success: ['x', 'y'].map((key) => ({ requestPut: { key: b(key) } })) });
    await api.compact(4);
    await api.alarm({ action: 1, memberID: 3n, alarm: 1 });
    const call = open(api);
    await api.clock.settle(50);
    expect(call.status).toEqual({ code: 0, message: '' });
    const buckets = await readBuckets(database(call.sent));
    expect([...buckets.keys()].toSorted()).toEqual([
      'alarm',
      'auth',
      'authRoles',
      'authUsers',
      'cluster',
      'key',
      'lease',
      'members',
      'members_removed',
      'meta',
    ]);
    const versions = buckets.get('key')!.map(([key, value]) => {
      const kv = mvccpb.decodeKeyValue(value);
      return `${main(key)}.${key.readBigInt64BE(9)}${key[17] === undefined ? '' : 't'} ${t(kv.key)}`;
    });
    expect(versions).toEqual(['2.0 leased', '3.0 a', '4.0 b', '5.0 a', '6.0t b', '7.0 x', '7.1 y']);
    const [[id, lease]] = buckets.get('lease') as [[Buffer, Buffer]];
    expect(id.readBigInt64BE()).toBe(-5n);
    expect(leasepb.decodeLease(lease)).toMatchObject({ ID: -5n, TTL: 60 });
    const meta = new Map(buckets.get('meta')!.map(([key, value]) => [key.toString(), value]));
    expect(meta.get('storageVersion')?.toString()).toBe('3.6.0');
    expect(main(meta.get('finishedCompactRev')!)).toBe(4);
    expect(JSON.parse(buckets.get('members')![0]![1].toString())).toMatchObject({ id: 29, name: member.name });
    expect(etcdserverpb.decodeAlarmMember(buckets.get('alarm')![0]![0])).toEqual({ memberID: 3n, alarm: 1 });
  });

  test('a tombstone has the key alone as its value, as in etcd, at revisions of one and of two bytes', async () => {
    await using api = await Api.open();
    await api.fill('a', 'b');
    await api.deleteRange({ key: b('b') });
    for (let at = 0; at < 130; at += 1) await api.fill('c');
    await api.deleteRange({ key: b('c') });
    const call = open(api);
    await api.clock.settle(50);
    const versions = (await readBuckets(database(call.sent))).get('key')!;
    const tombstones = versions.filter(([key]) => key.length === 18);
    expect(tombstones.map(([key, value]) => [main(key), value.toString('hex')])).toEqual([
      [4, '0a0162'],
      [135, '0a0163'],
    ]);
    const others = versions.filter(([key]) => key.length === 17);
    expect(others.every(([key, value]) => mvccpb.decodeKeyValue(value).modRevision === main(key))).toBe(true);
  });

  test('it is of one revision, however long it takes', async () => {
    await using api = await Api.open({ limits: { streamQueueBytesMax: 64 * 1024 } });
    const value = new Uint8Array(1_000);
    for (let at = 0; at < 500; at += 1) await api.put({ key: b(`k${at}`), value });
    const call = open(api);
    call.stalled = true;
    await api.clock.settle();
    const at = (await api.range(ALL)).header!.revision;
    for (let key = 0; key < 500; key += 1) await api.put({ key: b(`k${key}`) });
    await api.compact(at + 400);
    while (call.status === undefined) {
      call.read();
      await api.clock.settle();
    }
    const versions = (await readBuckets(database(call.sent))).get('key')!;
    expect(versions.map(([key]) => main(key))).toEqual(Array.from({ length: 500 }, (_, put) => put + 2));
  });

  test('each begins in a slice of its own, however many clients begin in one turn', async () => {
    const loops: Loop[] = [];
    const taken: number[] = [];
    await using api = await Api.open({
      loop: (clock) => {
        loops.push(new Loop({ clock, pace: new StepPace(4000) }));
        return loops[0]!;
      },
    });
    await api.fill('a');
    const image = api.backend.image.bind(api.backend);
    vi.spyOn(api.backend, 'image').mockImplementation((signal) => {
      taken.push(loops[0]!.usage.get('background')!.slices);
      return image(signal);
    });
    const calls = Array.from({ length: 10 }, () => open(api));
    await api.clock.settle(100);
    expect(calls.map(({ status }) => status?.code)).toEqual(calls.map(() => 0));
    expect(taken).toHaveLength(10);
    expect(new Set(taken).size).toBe(10);
  });

  test('edge 120: a client that goes away ends it', async () => {
    await using api = await Api.open({ limits: { streamQueueBytesMax: 1_000 } });
    await api.fill('a');
    const call = open(api);
    call.stalled = true;
    await api.clock.settle();
    call.cancel();
    await api.clock.settle();
    expect(call.sent).toHaveLength(1);
    await api.fill('a');
    await api.compact(3, true);
  });

  test('a client that goes away in the turn of its call leaves neither an image nor a failure behind', async () => {
    await using api = await Api.open();
    await api.fill('a');
    open(api).cancel();
    await api.clock.settle();
    expect(api.backend.stats.imagesBytes).toBe(0);
  });

  test('a client that does not read is cut in the end, so that it holds nothing back', async () => {
    await using api = await Api.open({ limits: { streamQueueBytesMax: 1_000, stallMsMax: 1_000 } });
    const call = open(api);
    call.stalled = true;
    await api.clock.settle();
    api.clock.advance(999);
    expect(call.status).toBeUndefined();
    api.clock.advance(1);
    expect(call.status?.code).toBe(14);
  });
});
