import { setTimeout as sleep } from 'node:timers/promises';
import { type Judge, type Method, method } from './judge.ts';
import type { Fields } from './messages.ts';
import * as ask from './methods.ts';
import { STORES } from './stores.ts';

/** The page of the store is made anew at most once in a second. */
const PAGE_MS = 1_100;

const COUNTERS =
  /^(etcd_mvcc_(?:range|put|delete|txn)_total|etcd_debugging_mvcc_total_put_size_in_bytes|etcd_server_learner_promote_\w+|grpc_server_(?:started|msg_received|msg_sent|handled)_total)(?:\{(.*)\})? (\S+)$/gm;

const LABEL = /\w+="(?:[^"\\]|\\.)*"/g;

const promote = method('Cluster/MemberPromote', 'MemberPromoteRequest');
const userGet = method('Auth/UserGet', 'AuthUserGetRequest');

const lives = { key: 'a', target: 2, result: 1, modRevision: 0n };
const isGone = { key: 'a', target: 2, result: 0, modRevision: 0n };
const put = (fields: Fields): Fields => ({ requestPut: fields });
const get = (fields: Fields): Fields => ({ requestRange: fields });
const remove = (fields: Fields): Fields => ({ requestDeleteRange: fields });
const txn = (compare: readonly Fields[], success: readonly Fields[], failure: readonly Fields[] = []): Fields => ({
  compare: [...compare],
  success: [...success],
  failure: [...failure],
});
const update = put({ key: 'a', value: 'value' });
const all = { key: '\0', rangeEnd: '\0' };

/** The counters are read behind each of these. */
const CASES: readonly (readonly [what: string, ...calls: readonly (readonly [Method, Fields])[]])[] = [
  ['puts', ...['a', 'b', 'c'].map((key) => [ask.put, { key, value: 'value' }] as const)],
  [
    'puts that ask for what they supersede',
    [ask.put, { key: 'a', prevKv: true }],
    [ask.put, { key: 'd', prevKv: true }],
  ],
  ['puts that keep something', [ask.put, { key: 'a', ignoreLease: true }], [ask.put, { key: 'b', ignoreValue: true }]],
  ['ranges', [ask.range, { key: 'a' }], [ask.range, { ...all, limit: 1n }], [ask.range, { ...all, countOnly: true }]],
  ['ranges that are refused', [ask.range, { key: 'a', revision: 999n }]],
  ['deletes of one key', [ask.deleteRange, { key: 'c' }], [ask.deleteRange, { key: 'd', prevKv: true }]],
  ['a delete of nothing', [ask.deleteRange, { key: 'none' }]],
  [
    'an update, and one that fails',
    ...[lives, isGone].map((one) => [ask.txn, txn([one], [update], [get({ key: 'a' })])] as const),
  ],
  [
    'compares',
    ...[
      [lives, isGone],
      [isGone, lives],
      [lives, lives],
    ].map((compare) => [ask.txn, txn(compare, [update])] as const),
  ],
  ['a compare of a range', [ask.txn, txn([{ ...lives, rangeEnd: '\0' }], [update, get(all)])]],
  [
    'puts of a transaction that ask',
    [ask.txn, txn([lives], [put({ key: 'a', prevKv: true }), put({ key: 'b', prevKv: true })])],
  ],
  ['one alone', [ask.txn, txn([], [put({ key: 'a' })])], [ask.txn, txn([], [remove({ key: 'none', prevKv: true })])]],
  [
    'transactions that only read',
    [ask.txn, txn([lives], [get(all)])],
    [ask.txn, txn([], [get(all)])],
    [ask.txn, txn([lives, lives], [])],
  ],
  ['an empty transaction', [ask.txn, {}]],
  ['nested transactions', [ask.txn, txn([isGone], [], [{ requestTxn: txn([lives], [update, get(all)]) }])]],
  ['a delete of many in a transaction', [ask.txn, txn([lives], [remove({ ...all, prevKv: true }), get(all)])]],
  [
    'a lease with keys, and one without',
    [ask.leaseGrant, { ID: 7n, TTL: 600n }],
    [ask.leaseGrant, { ID: 8n, TTL: 600n }],
    ...['a', 'b', 'c'].map((key) => [ask.put, { key, lease: 7n }] as const),
    [ask.leaseRevoke, { ID: 7n }],
    [ask.leaseRevoke, { ID: 8n }],
  ],
  ['promotions of nobody', [promote, { ID: 404n }], [promote, { ID: 405n }]],
  ['calls that fail', [ask.leaseRevoke, { ID: 404n }], [userGet, { name: 'nobody' }], [ask.put, { key: '' }]],
];

/** What requests add to counters. Each family of counters is compared as a whole. */
export async function countsPart(judge: Judge): Promise<void> {
  await judge.untilStorageVersion();
  let before = await countersOf(judge);
  for (const [what, ...calls] of CASES) {
    for (const [asked, request] of calls) await judge.call(asked, request);
    const after = await countersOf(judge);
    const [etcd, store] = after.map((counters, at) => added(before[at]!, counters));
    judge.equal(`what is counted of ${what}`, etcd, store);
    before = after;
  }
  await judge.call(promote, { ID: judge.memberId });
  const [etcd, store] = (await countersOf(judge)).map((counters, at) => added(before[at]!, counters));
  judge.equal('what is counted of the promotion of a voter', etcd, store);
}

type Counters = ReadonlyMap<string, number>;

async function countersOf(judge: Judge): Promise<readonly Counters[]> {
  await sleep(PAGE_MS);
  return await Promise.all(
    STORES.map(async (_name, at) => {
      const page = await (await fetch(`http://${judge.stores.endpoint(at)}/metrics`)).text();
      return new Map(
        [...page.matchAll(COUNTERS)].map(([, name = '', labels = '', value]) => [
          `${name} ${(labels.match(LABEL) ?? []).toSorted().join()}`,
          Number(value),
        ]),
      );
    }),
  );
}

/** By the names of the counters, in their order. */
function added(before: Counters, after: Counters): Readonly<Record<string, number>> {
  const changed = [...after].map(([name, value]) => [name, value - (before.get(name) ?? 0)] as const);
  return Object.fromEntries(changed.filter(([, value]) => value !== 0));
}
