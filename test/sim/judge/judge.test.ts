import { encodeRecord, encodePutRecord, type LogRecord } from '@engram/coder';
import {
  EngramError,
  rangeOp,
  EMPTY_BYTES,
  keyBytes,
  leaseId,
  logPosition,
  putOp,
  type RangeOp,
  revision,
  type Txn,
} from '@engram/core';
import { StoreHistory } from '@engram/sim/model';
import { StorageTrimmedError } from '@engram/storage';
import { describe, expect, test } from 'vitest';
import { Judge } from './judge.ts';
import { WatchJudge } from './watch-judge.ts';

/** A put of the key as the log has it, with the value `v<mod>`. */
function putRecord(mod: number, version: number, create: number, key = 'k', lease = 0n): Uint8Array {
  return encodePutRecord(0, {
    key: keyBytes(key),
    value: keyBytes(`v${mod}`),
    createRevision: revision(create),
    modRevision: revision(mod),
    version,
    lease: leaseId(lease),
  });
}

const mark = (record: LogRecord): Uint8Array => encodeRecord(record);
const call = { what: 'a request', from: 1, startMs: 0 };

function judgeOf(...records: Uint8Array[]): Judge {
  const judge = new Judge(new StoreHistory());
  judge.logged(1, records);
  return judge;
}

const putK: Txn = {
  compares: [],
  success: [putOp(keyBytes('k'), keyBytes('v3'))],
  failure: [],
};
const putAnswer = (at: number) =>
  ({
    kind: 'txn',
    revision: revision(at),
    succeeded: true,
    responses: [{ kind: 'put', revision: revision(at), prevKv: undefined }],
  }) as const;

const rangeK: RangeOp = rangeOp({ key: keyBytes('k'), end: EMPTY_BYTES });

describe('the log must keep its rules', () => {
  test.each([
    { why: 'a revision is left out', records: [putRecord(2, 1, 2), putRecord(4, 2, 2)] },
    { why: 'a revision comes twice', records: [putRecord(2, 1, 2), putRecord(2, 2, 2, 'a')] },
    { why: 'a version is not the next', records: [putRecord(2, 1, 2), putRecord(3, 3, 2)] },
    { why: 'a creation of what is there', records: [putRecord(2, 1, 2), putRecord(3, 1, 3)] },
    { why: 'a lease that is not there', records: [putRecord(2, 1, 2, 'k', 7n)] },
    { why: 'a revoke of no lease', records: [mark({ kind: 'lease-revoke', id: leaseId(1n) })] },
    { why: 'a compaction of the future', records: [mark({ kind: 'compact', revision: revision(5) })] },
  ])('$why', ({ records }) => {
    expect(() => judgeOf(...records)).toThrow(expect.objectContaining({ kind: 'log' }));
  });

  test('a revoke takes the keys of its lease, and no others', () => {
    const id = leaseId(7n);
    const begin = [mark({ kind: 'lease-grant', id, ttlSeconds: 5 }), putRecord(2, 1, 2, 'k', 7n)];
    expect(() => judgeOf(...begin, mark({ kind: 'lease-revoke', id }))).toThrow(/its keys are/);
  });
});

describe('writes', () => {
  test('an answer must be its write, which nobody else may be', () => {
    const judge = judgeOf(putRecord(2, 1, 2), putRecord(3, 2, 2));
    expect(() => judge.txn(call, putK, putAnswer(2))).toThrow(/is not what it says/);
    judge.txn(call, putK, putAnswer(3));
    expect(() => judge.txn(call, putK, putAnswer(3))).toThrow(/the second to be/);
    expect(() => judge.txn(call, putK, putAnswer(4))).toThrow(/not from 1 to 3/);
  });

  test('a request that comes after an answer must come after it in the log', () => {
    const judge = judgeOf(putRecord(2, 1, 2), putRecord(3, 2, 2));
    judge.txn(call, putK, putAnswer(3));
    const later = { ...call, from: judge.acknowledged };
    expect(() => judge.range(later, rangeK, [emptyRange(2)])).toThrow(/not from 3 to 3/);
  });

  test('what nobody asked for is a ghost, and one unknown write explains one', () => {
    const judge = judgeOf(putRecord(2, 1, 2), putRecord(3, 2, 2));
    const explains = (write: Parameters<typeof judge.writes.explain>[0]): boolean =>
      judge.writes.txnExplains(putK, write, 1) || write.revision === 2;
    judge.writes.unknown({ ...call, explains });
    expect(() => judge.writes.settle()).toThrow(expect.objectContaining({ kind: 'ghost' }));
    judge.writes.unknown({ ...call, explains });
    judge.writes.settle();
  });

  test('a write that comes late may be that of a call which another write was settled with', () => {
    const judge = judgeOf(putRecord(2, 1, 2));
    judge.writes.unknown({ ...call, explains: () => true });
    judge.writes.unknown({ ...call, explains: ({ revision }) => revision === 2 });
    judge.writes.settle();
    judge.logged(2, [putRecord(3, 2, 2)]);
    judge.writes.settle();
    judge.logged(3, [putRecord(4, 3, 2)]);
    expect(() => judge.writes.settle()).toThrow(expect.objectContaining({ kind: 'ghost' }));
  });

  test('a refusal must be true of some state between request and answer', () => {
    const judge = judgeOf(putRecord(2, 1, 2));
    const keep: Txn = { ...putK, success: [{ ...putK.success[0]!, ignoreValue: true } as Txn['success'][number]] };
    judge.txnRefused(call, keep, 'KeyNotFound'); // before revision 2
    expect(() => judge.txnRefused({ ...call, from: 2 }, keep, 'KeyNotFound')).toThrow(/no state explains/);
    expect(() => judge.compactRefused(call, 2, 'Compacted')).toThrow(/was refused/);
    expect(() => judge.verdict(call, new TypeError('x'), noExcuse)).toThrow(/failed with TypeError/);
    const gone = new EngramError('Timeout', { cause: new StorageTrimmedError('gone') });
    expect(() => judge.verdict(call, gone, { ...noExcuse, leaderless: true })).toThrow(/a request: gone/);
    expect(judge.verdict(call, gone, { ...noExcuse, leaderless: true, forgotten: true })).toBe('unknown');
  });

  test('a request times out only for a cause, and only once its time is over', () => {
    const judge = judgeOf(putRecord(2, 1, 2));
    const late = new EngramError('Timeout');
    const after = { ...noExcuse, nowMs: call.startMs + 1000 };
    expect(() => judge.verdict(call, late, after)).toThrow(/failed with Timeout/);
    expect(judge.verdict(call, late, { ...after, slow: true })).toBe('unknown');
    expect(judge.verdict(call, late, { ...after, leaderless: true })).toBe('unknown');
    const early = { ...after, leaderless: true, nowMs: call.startMs + 990 };
    expect(() => judge.verdict(call, late, early)).toThrow(/timed out after 990.0 ms/);
  });

  test('an exception that no client may see is no outcome, whatever has failed', () => {
    const judge = judgeOf(putRecord(2, 1, 2));
    expect(() => judge.verdict(call, new TypeError('x'), { ...noExcuse, leaderless: true, stopping: true })).toThrow(
      /failed with TypeError/,
    );
  });
});

const noExcuse = {
  aborted: false,
  leaderless: false,
  stopping: false,
  failingReads: false,
  forgotten: false,
  narrow: false,
  quota: false,
  impatient: false,
  slow: false,
  lied: false,
  timeoutMs: 1000,
  nowMs: 0,
};
const emptyRange = (at: number) => ({ kind: 'range', revision: revision(at), kvs: [], count: 0, more: false }) as const;

describe('leases', () => {
  test('none ends before its time, counted from the last renewal', () => {
    const judge = judgeOf(mark({ kind: 'lease-grant', id: leaseId(7n), ttlSeconds: 5 }));
    judge.leases.granted(7n, 2, 5, 1000);
    judge.leases.answered(7n, 2, 1100);
    judge.leases.renewed(7n, 2, 4000, 4100);
    expect(() => judge.leases.expired(2, 7n, 8999)).toThrow(/not after 9000/);
    judge.leases.expired(2, 7n, 9000);
  });

  test('none is renewed after its time', () => {
    const judge = judgeOf(mark({ kind: 'lease-grant', id: leaseId(7n), ttlSeconds: 5 }));
    judge.leases.granted(7n, 2, 5, 1000);
    judge.leases.answered(7n, 2, 1100);
    expect(() => judge.leases.renewed(7n, 2, 6101, 6102)).toThrow(/its time was over/);
  });

  test('a copy of a renewal may take effect behind its answer, for a time', () => {
    const judge = judgeOf(mark({ kind: 'lease-grant', id: leaseId(7n), ttlSeconds: 5 }));
    judge.leases.granted(7n, 2, 5, 1000);
    judge.leaseRenewed({ ...call, startMs: 2000 }, 7n, 5, 3000, 700);
    judge.leases.renewed(7n, 2, 8600, 8601);
    judge.leaseRenewed({ ...call, startMs: 9000 }, 7n, 5, 9100, 700);
    expect(() => judge.leases.renewed(7n, 2, 14_801, 14_802)).toThrow(/its time was over/);
  });

  test('an answered revoke acknowledges its end; where it may be several, the first of them', () => {
    const grant = mark({ kind: 'lease-grant', id: leaseId(7n), ttlSeconds: 5 });
    const end = mark({ kind: 'lease-revoke', id: leaseId(7n) });
    const judge = judgeOf(grant, end, grant, end);
    const [, first, , second] = judge.history.writes;
    judge.leaseEnded(first!, 7n, 2, 100);
    judge.leaseEnded(second!, 7n, 4, 100);
    judge.leaseRevoked(call, 7n, 1);
    expect(judge.acknowledged).toBe(3);
    judge.leaseRevoked(call, 7n, 1);
    expect(judge.writes.unexplained(1).map(({ mark: one }) => one?.kind)).toEqual(['lease-grant', 'lease-grant']);
    expect(() => judge.leaseRevoked(call, 7n, 1)).toThrow(/the log has no such mark/);
  });

  test('a renewal counts for a lease whose end nobody had been told of, also where its id was granted again', () => {
    const grant = (ttlSeconds: number): Uint8Array => mark({ kind: 'lease-grant', id: leaseId(7n), ttlSeconds });
    const judge = judgeOf(grant(5), mark({ kind: 'lease-revoke', id: leaseId(7n) }), grant(9));
    judge.leases.granted(7n, 2, 5, 1000);
    judge.leases.granted(7n, 4, 9, 1000);
    judge.leaseRenewed({ ...call, startMs: 2000 }, 7n, 5, 2100);
    expect(() => judge.leases.expired(2, 7n, 6999)).toThrow(/not after 7000/);
    judge.leases.expired(4, 7n, 10_000);
    expect(() => judge.leaseRenewed({ ...call, from: 3 }, 7n, 5, 2100)).toThrow(/no state explains it/);
  });

  test('of two leases of one id and one time nobody knows which was renewed', () => {
    const grant = mark({ kind: 'lease-grant', id: leaseId(7n), ttlSeconds: 5 });
    const judge = judgeOf(grant, mark({ kind: 'lease-revoke', id: leaseId(7n) }), grant);
    judge.leases.granted(7n, 2, 5, 1000);
    judge.leases.granted(7n, 4, 5, 1000);
    judge.leaseRenewed({ ...call, startMs: 2000 }, 7n, 5, 2100);
    judge.leases.expired(2, 7n, 6000);
    judge.leases.expired(4, 7n, 6000);
  });

  test('a renewal of which nobody was told may reach the next lease of its id, also after a takeover', () => {
    const grant = mark({ kind: 'lease-grant', id: leaseId(7n), ttlSeconds: 5 });
    const judge = judgeOf(grant, mark({ kind: 'lease-revoke', id: leaseId(7n) }), grant);
    judge.leases.granted(7n, 2, 5, 1000);
    judge.leases.maybeRenewed(7n, 2, 12_000);
    judge.leases.granted(7n, 4, 5, 2000);
    judge.leases.answered(7n, 4, 2100);
    const hasFullTtl = (nowMs: number): void =>
      judge.timeToLive({ ...call, from: 4, startMs: nowMs }, 7n, 5, 5, [], nowMs);
    hasFullTtl(9000);
    judge.leases.takenOver(10_000, 10_100);
    hasFullTtl(14_000);
    judge.leases.takenOver(15_000, 15_100);
    expect(() => hasFullTtl(17_000)).toThrow(/no state/);
  });
});

describe('watches', () => {
  const history = new StoreHistory();
  history.append(1, [putRecord(2, 1, 2), putRecord(3, 2, 2)]);
  const watched = {
    name: 'w',
    range: { key: keyBytes('k'), end: EMPTY_BYTES },
    prevKv: true,
    noPut: false,
    noDelete: false,
  };
  const judge = (next: number): WatchJudge => new WatchJudge(history, watched, next);
  const group = (at: number, prevKv?: Uint8Array) => {
    const event = history.writeOf(at)!.events[0]!;
    return {
      revision: revision(at),
      events: [
        {
          type: 0 as const,
          key: event.keyBytes,
          modRevision: revision(at),
          sub: 0,
          createRevision: revision(2),
          version: event.version,
          lease: leaseId(0n),
          kv: event.kv,
          position: logPosition(event.position),
          prevPosition: undefined,
          prevModRevision: revision(0),
          prevLease: leaseId(0n),
          prevKv,
        },
      ],
    };
  };
  const kvOf = (at: number): Uint8Array => history.writeOf(at)!.events[0]!.kv;

  test('events come in order, each once, with what they superseded', () => {
    const whole = judge(2);
    whole.events([group(2), group(3, kvOf(2))], 3);
    whole.checkComplete();
    expect(() => whole.events([group(3, kvOf(2))], 3)).toThrow(/comes again/);
    expect(() => judge(2).events([group(3, kvOf(2))], 3)).toThrow(/without/);
    expect(() => judge(3).events([group(3)], 3)).toThrow(/no prev_kv/);
    expect(() => judge(3).events([group(3, kvOf(3))], 3)).toThrow(/prev_kv/);
    expect(() => judge(2).checkComplete()).toThrow(/without/);
  });

  test('what an event superseded is not told where the watch began behind its compaction', () => {
    const compacted = judge(3);
    compacted.begins(2);
    compacted.events([group(3, kvOf(2))], 3);
    const behind = judge(3);
    behind.begins(3);
    expect(() => behind.events([group(3, kvOf(2))], 3)).toThrow(/prev_kv at 3, and it began compacted at 3/);
    const movedBack = judge(3);
    movedBack.begins(3);
    movedBack.begins(2);
    movedBack.events([group(3, kvOf(2))], 3);
  });

  test('a progress mark comes after the events, and never of what is not durable', () => {
    expect(() => judge(2).progress(2)).toThrow(/without/);
    expect(() => judge(4).progress(4)).toThrow(/the log ends at 3/);
    judge(4).progress(3);
  });

  test('only what is compacted ends a watch', () => {
    expect(() => judge(2).compacted(3)).toThrow(/the log says -1/);
  });
});
