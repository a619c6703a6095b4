import { expect, test } from 'vitest';
import { AssertionError, keyText, leaseId, NO_LEASE, utf8 } from '@engram/core';
import { finish, unhurried } from '@engram/loop';
import { Lessor, MAX_TTL_SECONDS } from '@engram/lease';

const A = leaseId(1n);
const B = leaseId(2n);
const lessor = (): Lessor => new Lessor({ minTtlSeconds: 2 });
const texts = (keys: readonly Uint8Array[]): string[] => keys.map(keyText);

test.each([
  { asked: 0, granted: 2, why: 'etcd raises silently' },
  { asked: -1, granted: 2, why: 'negative values as well' },
  { asked: -(2 ** 63), granted: 2, why: 'all of int64 may come from a client' },
  { asked: 1, granted: 2, why: 'below the minimum' },
  { asked: 2, granted: 2, why: 'the minimum itself' },
  { asked: 3, granted: 3, why: 'above it the request counts' },
  { asked: MAX_TTL_SECONDS, granted: MAX_TTL_SECONDS, why: 'the maximum is granted' },
])('edge 84: TTL $asked is granted as $granted: $why', ({ asked, granted }) => {
  const held = lessor();
  expect(held.grant(A, asked, 0).ttlSeconds).toBe(granted);
  expect(held.renew(A, 1)).toBe(granted);
});

test('the greatest TTL, from a clock that has run for a century, is exact to the millisecond', () => {
  const held = lessor();
  const nowMs = 100 * 365 * 86_400_000;
  held.grant(A, MAX_TTL_SECONDS, nowMs);
  const deadlineMs = nowMs + MAX_TTL_SECONDS * 1000;
  expect(Number.isSafeInteger(deadlineMs + 1)).toBe(true);
  expect(held.remainingMs(A, nowMs + 1)).toBe(MAX_TTL_SECONDS * 1000 - 1);
  expect(held.expired(deadlineMs - 1, 500)).toEqual([]);
  expect(held.expired(deadlineMs, 500)).toEqual([A]);
});

test.each([
  { id: -1n, why: 'negative' },
  { id: 2n ** 63n - 1n, why: 'MaxInt64' },
  { id: -(2n ** 63n), why: 'MinInt64' },
  { id: 2n ** 53n + 1n, why: 'no double holds it' },
])('edge 85: id $id ($why) is granted, renewed, revoked, and nothing is mistaken for it', ({ id }) => {
  const held = lessor();
  const other = leaseId(BigInt.asIntN(64, id - 1n));
  held.grant(leaseId(id), 5, 0);
  expect(held.has(other)).toBe(false);
  held.grant(other, 7, 0);
  expect(held.renew(leaseId(id), 1)).toBe(5);
  held.revoke(leaseId(id));
  expect(held.has(leaseId(id))).toBe(false);
  expect(held.renew(other, 1)).toBe(7);
});

test.each([
  { what: 'an id twice', act: (held: Lessor) => [5, 5].map((ttl) => held.grant(A, ttl, 0)) },
  { what: 'the id 0', act: (held: Lessor) => held.grant(NO_LEASE, 5, 0) },
  { what: 'a TTL above the maximum', act: (held: Lessor) => held.grant(A, MAX_TTL_SECONDS + 1, 0) },
  { what: 'half a second', act: (held: Lessor) => held.grant(A, 2.5, 0) },
  { what: 'the revoke of an unknown id', act: (held: Lessor) => held.revoke(A) },
  { what: 'a key of an unknown id', act: (held: Lessor) => held.attach(A, utf8('a')) },
  { what: 'a negative checkpoint', act: (held: Lessor) => held.checkpoint(A, -1) },
  { what: 'no minimum', act: () => new Lessor({ minTtlSeconds: 0 }) },
])('$what is a broken invariant: the caller has checked', ({ act }) => {
  expect(() => act(lessor())).toThrow(AssertionError);
});

test('edge 86: a keepalive of an unknown id finds nothing, one right after the grant finds it', () => {
  const held = lessor();
  expect(held.renew(A, 0)).toBeUndefined();
  held.grant(A, 60, 0);
  expect(held.renew(A, 0)).toBe(60);
});

test('edge 87: of an unknown lease nothing is told', () => {
  const held = lessor();
  expect(held.get(A)).toBeUndefined();
  expect(held.remainingMs(A, 0)).toBeUndefined();
  expect(held.keys(A)).toEqual([]);
  held.grant(A, 60, 0);
  held.attach(A, utf8('k'));
  expect(held.get(A)).toEqual({ id: A, ttlSeconds: 60, checkpointSeconds: 0, keyCount: 1 });
  expect(texts(held.keys(A))).toEqual(['k']);
});

test('edge 88: a revoke names the keys in byte order, each once, of any bytes', () => {
  const held = lessor();
  held.grant(A, 60, 0);
  const keys = [
    Uint8Array.of(0xff),
    utf8('b'),
    utf8('a'),
    utf8('a\0'),
    Uint8Array.of(0),
    utf8('Z'),
    Uint8Array.of(0x80),
  ];
  for (const key of [...keys, ...keys]) held.attach(A, key);
  expect(held.get(A)?.keyCount).toBe(keys.length);
  expect(held.keys(A).map((key) => [...key])).toEqual([[0], [0x5a], [0x61], [0x61, 0], [0x62], [0x80], [0xff]]);
});

test('edge 89: a key that moved belongs to the new lease alone', () => {
  const held = lessor();
  held.grant(A, 60, 0);
  held.grant(B, 60, 0);
  held.attach(A, utf8('k'));
  held.detach(A, utf8('k'));
  held.attach(B, utf8('k'));
  expect(held.keys(A)).toEqual([]);
  held.revoke(A);
  held.detach(A, utf8('k')); // does nothing: the lease is gone
  expect(texts(held.keys(B))).toEqual(['k']);
});

test('edge 90: a lease ends at its deadline and not before; from then on no keepalive saves it', () => {
  const held = lessor();
  held.grant(A, 5, 1000);
  expect(held.expired(5999, 500)).toEqual([]);
  expect(held.renew(A, 5999)).toBe(5);
  expect(held.expired(10_998, 500)).toEqual([]);
  expect(held.renew(A, 10_999)).toBeUndefined();
  expect(held.expired(10_999, 500)).toEqual([A]);
  expect(held.expired(10_999, 500)).toEqual([]);
  expect(held.has(A)).toBe(true);
  expect(held.remainingMs(A, 10_999)).toBe(0);
  expect(held.renew(A, 10_998)).toBeUndefined(); // it was handed out, so a stale clock does not matter
  held.revoke(A);
  expect(held.remainingMs(A, 10_999)).toBeUndefined();
});

test('a failed revoke is offered again, at its time, and still nothing renews the lease', () => {
  const held = lessor();
  held.grant(A, 5, 0);
  expect(held.expired(5000, 500)).toEqual([A]);
  held.handBack(A, 8000);
  held.handBack(A, 6000); // does nothing: it is back already
  expect(held.nextDeadlineMs()).toBe(8000);
  expect(held.renew(A, 7000)).toBeUndefined();
  expect(held.remainingMs(A, 7000)).toBe(0);
  expect(held.expired(7999, 500)).toEqual([]);
  expect(held.expired(8000, 500)).toEqual([A]);
  held.revoke(A);
  held.handBack(A, 9000);
  expect(held.nextDeadlineMs()).toBeUndefined();
});

test('a round hands out at most so many, the earliest first', () => {
  const held = lessor();
  for (let at = 0; at < 1200; at += 1) held.grant(leaseId(BigInt(at + 1)), 2 + ((at * 7) % 1200), 0);
  const rounds = [1, 2, 3, 4].map(() => held.expired(10_000_000, 500));
  expect(rounds.map((round) => round.length)).toEqual([500, 500, 200, 0]);
  const ttls = rounds.flat().map((id) => held.get(id)!.ttlSeconds);
  expect(ttls).toEqual([...ttls].sort((left, right) => left - right));
});

test('edge 91: after a takeover every lease has a full TTL, also one that was being ended', () => {
  const held = lessor();
  held.grant(A, 10, 0);
  held.grant(B, 3, 0);
  expect(held.expired(9999, 500)).toEqual([B]);
  held.extendAll(9999, 1000);
  expect(held.expired(13_998, 500)).toEqual([]);
  expect(held.renew(A, 10_000)).toBe(10);
  expect(held.remainingMs(A, 10_000)).toBe(10_999); // a renewal never shortens what the takeover gave
  expect(held.expired(13_999, 500)).toEqual([B]);
});

test.each([
  { checkpoint: 40, renewed: false, restSeconds: 40, why: 'the rest that was noted' },
  { checkpoint: 0, renewed: false, restSeconds: 100, why: 'nothing noted' },
  { checkpoint: 40, renewed: true, restSeconds: 100, why: 'a renewal came after the checkpoint' },
  { checkpoint: 400, renewed: false, restSeconds: 100, why: 'never more than was granted' },
])('a takeover gives $restSeconds of 100 s: $why', ({ checkpoint, renewed, restSeconds }) => {
  const held = lessor();
  held.grant(A, 100, 0);
  held.checkpoint(A, checkpoint);
  held.checkpoint(B, 5); // does nothing: there is no such lease
  if (renewed) held.renew(A, 60_000);
  held.extendAll(60_000);
  expect(held.remainingMs(A, 60_000)).toBe(restSeconds * 1000);
});

test('edge 92: leases are listed by remaining time, those that end first', () => {
  const held = lessor();
  const ids = [30, 10, 20, 2].map((ttl, at) => held.grant(leaseId(BigInt(at + 1)), ttl, 0).id);
  expect(listed(held)).toEqual([ids[3], ids[1], ids[2], ids[0]]);
  held.renew(ids[1]!, 1500);
  held.renew(ids[2]!, 1900);
  expect(held.expired(2000, 500)).toEqual([ids[3]]);
  held.handBack(ids[3]!, 50_000);
  expect(listed(held)).toEqual([ids[3], ids[1], ids[2], ids[0]]);
  expect(held.size).toBe(4);
});

const listed = (held: Lessor): readonly unknown[] => finish(held.listByRemaining(unhurried)).map(({ id }) => id);
