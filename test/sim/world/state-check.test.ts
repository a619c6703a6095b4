import { AuthState } from '@engram/auth';
import { crc32 } from 'node:zlib';
import { encodeDeleteRecord, encodePutRecord, encodeRecord } from '@engram/coder';
import { assert, EMPTY_BYTES, keyBytes, keyText, leaseId, revision } from '@engram/core';
import { evaluateRange, type StateAt, StoreHistory } from '@engram/sim/model';
import { describe, expect, test } from 'vitest';
import { type CheckedStore, StateCheck } from './state-check.ts';

const LEASE = leaseId(7n);
const ALL = { key: Uint8Array.of(0), end: Uint8Array.of(0) };

const put = (mod: number, key: string, lease = leaseId(0n)): Uint8Array =>
  encodePutRecord(0, {
    key: keyBytes(key),
    value: keyBytes(`v${mod}`),
    createRevision: revision(mod),
    modRevision: revision(mod),
    version: 1,
    lease,
  });

/** Key "a" has a lease, key "b" has none. */
function historyOfTwo(): StoreHistory {
  const history = new StoreHistory();
  const grant = encodeRecord({ kind: 'lease-grant', id: LEASE, ttlSeconds: 100 });
  history.append(1, [grant, put(2, 'a', LEASE), put(3, 'b')]);
  return history;
}

const leaseEnds = (history: StoreHistory): void => {
  const revoke = encodeRecord({ kind: 'lease-revoke', id: LEASE });
  history.append(history.next, [revoke, encodeDeleteRecord(0, keyBytes('a'), revision(4))]);
};

/** A store that answers by the model, for the log that it has applied. */
class ModelStore implements CheckedStore {
  readonly #history: StoreHistory;
  /** The position of the log that answers show. Less than `applied` is a defect. */
  shown: number;
  applied: number;
  readonly authState = AuthState.first;
  /** Called for each request of a range. */
  onRange: () => void = () => undefined;
  ranges = 0;

  constructor(history: StoreHistory) {
    this.#history = history;
    this.shown = history.next;
    this.applied = history.next;
  }

  /** Applies the whole log. */
  apply(): void {
    this.applied = this.#history.next;
    this.shown = this.applied;
  }

  get #state(): StateAt {
    return this.#history.stateAt(this.shown);
  }

  get revision(): number {
    return this.#state.revision;
  }

  get compactRevision(): number {
    return this.#state.compactRevision;
  }

  get liveKeys(): number {
    return this.#history.liveIn(ALL, this.revision).length;
  }

  async leases(): Promise<readonly bigint[]> {
    return this.#history.leasesAt(this.shown).map(({ id }) => id);
  }

  alarms(): readonly [] {
    return [];
  }

  verify(): void {}

  timeToLive(id: bigint): ReturnType<CheckedStore['timeToLive']> {
    const span = this.#history.leaseAt(id, this.shown);
    if (span === undefined) return Promise.resolve(undefined);
    const keys = this.#history.leaseKeys(id, this.shown).map(keyBytes);
    const { ttlSeconds } = span;
    return Promise.resolve({ id: leaseId(id), grantedTtlSeconds: ttlSeconds, remainingSeconds: ttlSeconds, keys });
  }

  image(): ReturnType<CheckedStore['image']> {
    const { revision: at, compactRevision } = this.#state;
    const kept = this.#history.kept(compactRevision, at);
    return Promise.resolve({
      revision: revision(at),
      compactRevision: compactRevision as ReturnType<typeof revision>,
      count: kept.length,
      modRevision: (index) => kept[index]!.mod,
      sub: (index) => kept[index]!.sub,
      isTombstone: (index) => kept[index]!.deleted,
      bytes: (index) => kept[index]!.kv.length,
      read: (from, to) => Promise.resolve(kept.slice(from, to).map(({ kv }) => kv)),
      [Symbol.dispose]: () => undefined,
    });
  }

  range(op: Parameters<CheckedStore['range']>[0]): ReturnType<CheckedStore['range']> {
    this.ranges += 1;
    this.onRange();
    const answer = evaluateRange(this.#history, this.#state, op);
    assert(typeof answer !== 'string' && answer.kind === 'range', 'a range that is refused');
    const kvs = answer.kvs.map(({ key }) => this.#history.live(key, op.revision)!.kv);
    return Promise.resolve({ ...answer, revision: revision(answer.revision), kvs });
  }

  hashKv(at: number): ReturnType<CheckedStore['hashKv']> {
    const hash = this.#history.liveIn(ALL, at).reduce((sum, { kv }) => crc32(kv, sum), 0);
    return Promise.resolve({ hash, hashRevision: revision(at), compactRevision: revision(1), revision: revision(at) });
  }
}

const check = (history: StoreHistory, store: CheckedStore): Promise<void> =>
  new StateCheck({ history, delay: () => new Promise(setImmediate) }, store, 'the store').all();

describe('a store that nobody writes to is compared with its log', () => {
  test('a lease may end while it is: what is being compared is compared again, with the log behind its end', async () => {
    const history = historyOfTwo();
    const store = new ModelStore(history);
    store.onRange = () => {
      store.onRange = () => undefined;
      leaseEnds(history);
      // The end of the lease takes effect a little later.
      setImmediate(() => store.apply());
    };
    await check(history, store);
    expect([store.revision, await store.leases()]).toEqual([4, []]);
    expect(store.ranges).toBeGreaterThan(2);
  });

  test('an end that takes no effect is found', async () => {
    const history = historyOfTwo();
    const store = new ModelStore(history);
    store.onRange = () => {
      if (history.revision === 3) leaseEnds(history);
      store.applied = history.next;
    };
    await expect(check(history, store)).rejects.toThrow(/revision 3, not 4/);
  });

  test('what is wrong before the end of a lease and after it is found', async () => {
    const history = historyOfTwo();
    const store = new ModelStore(history);
    const broken = new StoreHistory();
    broken.append(1, [put(2, 'a'), put(3, 'c')]);
    store.onRange = () => {
      if (history.revision === 3) leaseEnds(history);
      store.apply();
    };
    const range = store.range.bind(store);
    store.range = async (op) => ({ ...(await range(op)), kvs: [broken.live('c', 3)!.kv] });
    await expect(check(history, store)).rejects.toThrow(expect.objectContaining({ kind: 'state' }));
  });

  test('an end that never takes effect is a hang', async () => {
    const history = historyOfTwo();
    const store = new ModelStore(history);
    store.onRange = () => {
      if (history.revision === 3) leaseEnds(history);
    };
    await expect(check(history, store)).rejects.toThrow(/has applied its log/);
  });

  test('whatever else comes to the log was asked for by nobody', async () => {
    const history = historyOfTwo();
    const store = new ModelStore(history);
    store.onRange = () => {
      history.append(history.next, [put(history.revision + 1, `k${history.revision}`)]);
      store.apply();
    };
    await expect(check(history, store)).rejects.toThrow(expect.objectContaining({ kind: 'ghost' }));
  });
});

test('a copy of a history goes its own way', () => {
  const history = historyOfTwo();
  const copy = history.copy();
  leaseEnds(copy);
  expect([history.revision, history.leasesAt(history.next).length]).toEqual([3, 1]);
  expect([copy.revision, copy.leasesAt(copy.next).length]).toEqual([4, 0]);
  history.append(history.next, [put(4, 'c')]);
  expect(copy.liveIn(ALL, 4).map(({ key }) => key)).toEqual(['b']);
  expect(history.liveIn({ key: keyBytes('c'), end: EMPTY_BYTES }, 4).map(({ keyBytes: key }) => keyText(key))).toEqual([
    'c',
  ]);
});
