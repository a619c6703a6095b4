import { type Backend, Following, nodeItself, openBackend } from '@engram/backend';
import { epoch, isEngramError, keyBytes, leaseId, putOp, rangeOp, type Txn } from '@engram/core';
import { Follower, MigrationError, StoreTarget } from '@engram/migration';
import { Prng, quiet, SimClock } from '@engram/sim';
import { MemoryStorage } from '@engram/storage';
import { mvccpb } from '@engram/wire';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { FakeEtcd } from './fake-etcd.ts';
import { passTime, settleWork } from './passing-time.ts';

const ALL = { key: Uint8Array.of(0), end: Uint8Array.of(0) };
const LEASE = 0x77n;

let clock: SimClock;
let etcd: FakeEtcd;
let following: Following;
let store: Backend;
let target: StoreTarget;
let follower: Follower;
let stop: AbortController;
let run: Promise<unknown>;

beforeEach(async () => {
  clock = new SimClock();
  etcd = new FakeEtcd();
  following = new Following();
  store = await settled(
    openBackend({
      storage: new MemoryStorage(),
      epoch: epoch(2),
      clock,
      random: new Prng(1),
      logger: quiet,
      memberId: 7n,
      following,
      onFatal: (error) => {
        throw error;
      },
    }),
  );
  target = new StoreTarget({ store, caller: following.caller, leads: () => true });
});
afterEach(async () => {
  stop?.abort(new Error('the test ends'));
  await settled(run);
  await store[Symbol.asyncDispose]();
});

const pass = (ms: number): Promise<void> => passTime(clock, ms);
const settled = <Value>(work: Promise<Value>): Promise<Value> => settleWork(clock, work);

function follow(): void {
  stop = new AbortController();
  follower = new Follower({ source: etcd, target, clock, logger: quiet });
  run = follower.run(stop.signal).catch((error: unknown) => error);
}

async function caughtUp(): Promise<void> {
  for (let turn = 0; turn < 500 && store.revision < etcd.newest; turn += 1) await pass(100);
  expect(store.revision).toBe(etcd.newest);
}

/** The key "a", at revision 2. */
async function followOnePut(): Promise<void> {
  etcd.put('a');
  follow();
  await caughtUp();
}

/** The error with which the following ends. */
const failure = async (): Promise<MigrationError> => (await settled(run)) as MigrationError;

const end = (): Promise<string> =>
  settled(follower.end(async () => following.end(), new AbortController().signal)).then(
    () => 'done',
    (error: unknown) => String(error),
  );

async function keysAt(revision: number): Promise<readonly string[]> {
  const { kvs } = await store.range(rangeOp(ALL, { revision }), nodeItself);
  return [...kvs].map((bytes) => {
    const { key, value, version, createRevision, modRevision, lease } = mvccpb.decodeKeyValue(bytes);
    return `${Buffer.from(key)}=${Buffer.from(value)} ${version} ${createRevision} ${modRevision} ${lease}`;
  });
}

const write: Txn = { compares: [], success: [putOp(keyBytes('mine'), keyBytes('x'))], failure: [] };
const refused = async (work: () => Promise<unknown> | number): Promise<boolean> =>
  await settled(
    Promise.resolve()
      .then(work)
      .then(
        () => false,
        (error: unknown) => isEngramError(error, 'Following'),
      ),
  );

test('each revision becomes one revision with its number, its versions and its values', async () => {
  etcd.put('a', '1');
  etcd.txn({ put: 'b', value: '2' }, { put: 'a', value: '3' }, { put: 'c', value: '4' });
  etcd.txn({ del: 'a' }, { put: 'd', value: '5' });
  etcd.put('a', '6');
  follow();
  await caughtUp();
  etcd.txn({ del: 'b' }, { del: 'c' });
  await caughtUp();
  expect(await keysAt(2)).toEqual(['a=1 1 2 2 0']);
  expect(await keysAt(3)).toEqual(['a=3 2 2 3 0', 'b=2 1 3 3 0', 'c=4 1 3 3 0']);
  expect(await keysAt(4)).toEqual(['b=2 1 3 3 0', 'c=4 1 3 3 0', 'd=5 1 4 4 0']);
  expect(await keysAt(6)).toEqual(['a=6 1 5 5 0', 'd=5 1 4 4 0']);
  expect(follower.lag).toMatchObject({ at: 6, source: 6 });
});

test('a revision in fragments is one revision', async () => {
  etcd.fragmentMax = 2;
  etcd.txn(...Array.from({ length: 9 }, (_, at) => ({ put: `key-${at}` })));
  etcd.put('after');
  follow();
  await caughtUp();
  expect(store.revision).toBe(3);
  expect(await keysAt(2)).toHaveLength(9);
});

test('a stream that is cut anywhere goes on where it was, also in the middle of a revision', async () => {
  etcd.fragmentMax = 2;
  etcd.messagesMax = 5;
  for (let at = 0; at < 5; at += 1) etcd.txn({ put: 'a' }, { put: 'b' }, { put: `c-${at}` });
  follow();
  await caughtUp();
  expect(etcd.watches).toBeGreaterThan(2);
  expect(await keysAt(6)).toHaveLength(7);
});

test('another process goes on behind the last revision that is durable', async () => {
  await followOnePut();
  stop.abort(new Error('ended'));
  await settled(run);
  etcd.put('a');
  etcd.put('b');
  follow();
  await caughtUp();
  expect((await keysAt(4)).map((line) => line.split('=')[0])).toEqual(['a', 'b']);
});

describe('what the source shows is refused by name, and nothing of it is written:', () => {
  test.each<readonly [what: string, fault: string, text: string, distort: FakeEtcd['distort']]>([
    [
      'a revision is missing',
      'malformed',
      'shows revision 4, and 3 is due',
      (response) => (response.events[0]?.kv?.modRevision === 3 ? undefined : response),
    ],
    [
      'a revision comes twice',
      'malformed',
      'shows revision 2, and 3 is due',
      (response) => {
        const [event] = response.events;
        return event?.kv?.modRevision === 3
          ? { ...response, events: [{ ...event, kv: { ...event.kv, modRevision: 2 } }] }
          : response;
      },
    ],
    [
      'a version that does not follow',
      'differs',
      '"a" in revision 3 has version 9',
      (response) => {
        const [event] = response.events;
        return event?.kv?.modRevision === 3
          ? { ...response, events: [{ ...event, kv: { ...event.kv, version: 9 } }] }
          : response;
      },
    ],
    [
      'another create revision',
      'differs',
      'created at 3 at the source',
      (response) => {
        const [event] = response.events;
        return event?.kv?.modRevision === 3
          ? { ...response, events: [{ ...event, kv: { ...event.kv, createRevision: 3 } }] }
          : response;
      },
    ],
    [
      'a deletion of what is not there',
      'differs',
      '"x" in revision 3 is deleted',
      (response) => {
        const [event] = response.events;
        return event?.kv?.modRevision === 3
          ? { ...response, events: [{ ...event, type: 1, kv: { ...event.kv, key: Buffer.from('x') } }] }
          : response;
      },
    ],
    [
      'a key that changes twice',
      'malformed',
      'changes twice in revision 3',
      (response) => {
        const [event] = response.events;
        return event?.kv?.modRevision === 3 ? { ...response, events: [event, event] } : response;
      },
    ],
    [
      'an event without a key',
      'malformed',
      'an event without a key',
      (response) =>
        response.events[0]?.kv?.modRevision === 3
          ? { ...response, events: [{ type: 0, kv: undefined, prevKv: undefined }] }
          : response,
    ],
  ])('%s', async (_what, fault, text, distort) => {
    etcd.put('a');
    etcd.put('a');
    etcd.put('a');
    etcd.distort = distort;
    follow();
    expect(await failure()).toMatchObject({ fault, message: expect.stringContaining(text) });
    expect(store.revision).toBe(2);
  });
});

test('another process finds that somebody else has written the newest revision', async () => {
  await followOnePut();
  stop.abort(new Error('ended'));
  await settled(run);
  await settled(store.txn(write, following.caller));
  etcd.put('b');
  follow();
  const message = expect.stringContaining('revision 3 here is not that of the source: the key "b"');
  expect(await failure()).toMatchObject({ fault: 'differs', message });
  expect(store.revision).toBe(3);
});

test('another process goes on where the source has compacted all that is here', async () => {
  etcd.put('a');
  await followOnePut();
  stop.abort(new Error('ended'));
  await settled(run);
  etcd.compacted = 3;
  etcd.put('b');
  follow();
  await caughtUp();
  expect(await keysAt(0)).toHaveLength(2);
});

test('a history that was compacted ends it', async () => {
  etcd.put('a');
  etcd.put('a');
  etcd.compacted = 3;
  follow();
  expect(await failure()).toMatchObject({ fault: 'compacted' });
});

test('another process does not begin with a revision of which a compaction may have taken a part', async () => {
  await followOnePut();
  stop.abort(new Error('ended'));
  await settled(run);
  etcd.txn({ del: 'a' }, { put: 'b' });
  etcd.compacted = 3;
  follow();
  expect(await failure()).toMatchObject({ fault: 'compacted' });
  expect(store.revision).toBe(2);
});

test('somebody who writes to the store that follows is noticed before the next revision', async () => {
  await followOnePut();
  await settled(store.txn(write, following.caller));
  etcd.put('a');
  expect(await failure()).toMatchObject({ fault: 'differs', message: expect.stringContaining('revision 3') });
});

test('without space the store is followed on once the alarm is disarmed, for which it must be there', async () => {
  const noSpace = { memberId: 7n, alarm: 1 };
  await settled(store.activateAlarm(noSpace, nodeItself));
  etcd.put('a');
  follow();
  await pass(5000);
  expect(store.revision).toBe(1);
  await settled(store.deactivateAlarm(noSpace, nodeItself));
  await caughtUp();
});

describe('leases', () => {
  const grants = (id: bigint, ttl: number): void => void etcd.granted.set(id, ttl);
  const ours = async (): Promise<ReadonlyMap<bigint, number>> => await target.leases();

  test('come with the first key, with their TTLs, and hold the same keys', async () => {
    grants(LEASE, 600);
    etcd.put('a', 'x', LEASE);
    follow();
    await caughtUp();
    expect(await ours()).toEqual(new Map([[LEASE, 600]]));
    expect([...store.keysOfLease(leaseId(LEASE))]).toEqual(['a']);
    expect((await keysAt(2))[0]).toContain(` ${LEASE}`);
  });

  test('without keys come and go within the interval', async () => {
    follow();
    await pass(1000);
    grants(LEASE, 60);
    await pass(11_000);
    expect(await ours()).toEqual(new Map([[LEASE, 60]]));
    etcd.granted.delete(LEASE);
    await pass(11_000);
    expect(await ours()).toEqual(new Map());
    expect(store.revision).toBe(1);
  });

  test('that have ended at the source before they were seen, end with the revision that deletes their keys', async () => {
    etcd.put('a', 'x', LEASE);
    etcd.txn({ del: 'a' });
    follow();
    await caughtUp();
    await pass(11_000);
    expect(await ours()).toEqual(new Map());
    expect(store.revision).toBe(3);
  });

  test('do not end by their time while the store follows, and have their full time after the cut-over', async () => {
    grants(LEASE, 5);
    etcd.put('a', 'x', LEASE);
    follow();
    await caughtUp();
    await pass(60_000);
    expect(store.revision).toBe(2);
    expect(await end()).toBe('done');
    await pass(4000);
    expect(store.revision).toBe(2);
    await pass(3000);
    expect(store.revision).toBe(3);
    expect(await keysAt(0)).toEqual([]);
  });

  test('whose TTL differs refuse the cut-over, if keys are attached; otherwise they get the right one', async () => {
    grants(LEASE, 100);
    etcd.put('a', 'x', LEASE);
    grants(LEASE + 1n, 100);
    follow();
    await caughtUp();
    await pass(11_000);
    grants(LEASE + 1n, 200);
    grants(LEASE, 200);
    expect(await end()).toContain('the lease 77 has 100 s here, and 200 s at the source');
    grants(LEASE, 100);
    expect(await end()).toBe('done');
    expect(await ours()).toEqual(
      new Map([
        [LEASE, 100],
        [LEASE + 1n, 200],
      ]),
    );
  });

  test.each(['grant', 'revoke'] as const)('are read again after a %s without an answer', async (call) => {
    follow();
    await pass(1000);
    grants(LEASE, 60);
    if (call === 'revoke') {
      await pass(11_000);
      etcd.granted.delete(LEASE);
    }
    const spy = vi.spyOn(target, call).mockImplementationOnce(async (...args: [bigint, number]) => {
      await target[call](...args);
      throw new MigrationError('interrupted', 'no answer');
    });
    expect(await end()).toContain('no answer');
    expect(spy).toHaveBeenCalledTimes(2);
    expect(await end()).toBe('done');
    expect(await ours()).toEqual(new Map(etcd.granted));
  });

  test('are left alone after the cut-over, whatever ends at the source', async () => {
    grants(LEASE, 60);
    follow();
    await pass(1000);
    expect(await end()).toBe('done');
    etcd.granted.delete(LEASE);
    grants(LEASE + 1n, 60);
    await pass(11_000);
    expect(await ours()).toEqual(new Map([[LEASE, 60]]));
  });

  test('that are granted just before the cut-over are there after it', async () => {
    follow();
    await pass(1000);
    grants(LEASE, 60);
    expect(await end()).toBe('done');
    expect(await ours()).toEqual(new Map([[LEASE, 60]]));
  });
});

describe('before the cut-over', () => {
  test('nobody but the follower writes, and everybody reads', async () => {
    etcd.put('a', '1');
    follow();
    await caughtUp();
    expect(await refused(() => store.txn(write, nodeItself))).toBe(true);
    expect(await refused(() => store.leaseGrant(leaseId(5n), 60, nodeItself))).toBe(true);
    expect(await refused(() => store.leaseRevoke(leaseId(5n), nodeItself))).toBe(true);
    expect(await refused(async () => store.leaseKeepAlive(leaseId(5n), nodeItself))).toBe(true);
    expect(await refused(() => store.changeAuth({ kind: 'disable' }, nodeItself))).toBe(true);
    expect(await keysAt(0)).toHaveLength(1);
    expect(store.revision).toBe(2);
    // What the source compacts does not show: without this the history would grow for as long as the store follows.
    await settled(store.compact(2, false, nodeItself));
    etcd.put('a', '2');
    await caughtUp();
    expect(await end()).toBe('done');
  });

  test('the cut-over is refused while a revision is missing, and is possible later', async () => {
    await followOnePut();
    etcd.distort = () => undefined;
    etcd.put('a');
    etcd.put('a');
    expect(await end()).toContain('2 revisions are missing: this store is at 2, and the source at 4');
    expect(await refused(() => store.txn(write, nodeItself))).toBe(true);
  });

  test('the cut-over is refused until the newest revision here is compared with that of the source', async () => {
    await followOnePut();
    stop.abort(new Error('ended'));
    await settled(run);
    etcd.distort = () => undefined;
    follow();
    await pass(1000);
    expect(follower.lag).toMatchObject({ at: 2, source: 2, compared: false });
    const ended = end();
    await pass(10_100);
    expect(await ended).toContain('is not compared with the source yet');
  });

  test('the cut-over waits for a watch that begins anew', async () => {
    await followOnePut();
    stop.abort(new Error('ended'));
    await settled(run);
    follow();
    expect(follower.lag.compared).toBe(false);
    expect(await end()).toBe('done');
    expect(follower.lag.compared).toBe(true);
  });

  test('the cut-over is refused if the source is written to while leases are compared', async () => {
    await followOnePut();
    const auth = etcd.auth.bind(etcd);
    etcd.auth = async () => {
      etcd.put('a');
      return await auth();
    };
    expect(await end()).toContain('1 revisions are missing');
    expect(following.active).toBe(true);
  });

  test('the cut-over is refused if the source has not shown a deletion', async () => {
    await followOnePut();
    // A watcher that was late while the etcd compacted at this revision.
    etcd.compacted = 3;
    etcd.txn({ del: 'a' }, { put: 'b' });
    await caughtUp();
    expect(await end()).toContain('2 keys here, and 1 at the source');
    expect(following.active).toBe(true);
  });

  test('the cut-over is refused if users have changed at the source', async () => {
    follow();
    await pass(1000);
    etcd.authRevision = 5;
    expect(await end()).toContain('users and roles have changed at the source');
  });

  test('the cut-over is refused if the source has gone back', async () => {
    await followOnePut();
    etcd.newest = 1;
    expect(await end()).toContain('this store is at 2, and the source at 1 only');
  });
});

test('after the cut-over writes take the next revision, and nothing follows any more', async () => {
  await followOnePut();
  expect(await end()).toBe('done');
  const { revision } = await settled(store.txn(write, nodeItself));
  expect(revision).toBe(3);
  etcd.put('late');
  expect(await failure()).toMatchObject({
    fault: 'differs',
    message: expect.stringContaining('after the following has ended'),
  });
  expect(store.revision).toBe(3);
});
