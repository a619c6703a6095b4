import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer, Judge, Method } from './judge.ts';
import { decode, encode, type Fields } from './messages.ts';
import * as ask from './methods.ts';
import { StreamPair } from './stream-pair.ts';
import { STORES } from './stores.ts';

const WAIT_MAX_MS = 15_000;

const ofLock = (name: string): Method => ({
  path: `v3lockpb.Lock/${name}`,
  request: `v3lockpb.${name}Request`,
  response: `v3lockpb.${name}Response`,
});
const ofElection = (name: string): Method => ({
  path: `v3electionpb.Election/${name}`,
  request: `v3electionpb.${name}Request`,
  response: `v3electionpb.${name}Response`,
});
const lock = ofLock('Lock');
const unlock = ofLock('Unlock');
const campaign = ofElection('Campaign');
const proclaim = ofElection('Proclaim');
const resign = ofElection('Resign');
const leader = ofElection('Leader');

/** Compares who has a lock and who leads, in which order, what waits, and how each call is refused. */
export async function lockPart(judge: Judge): Promise<void> {
  for (const ID of [1n, 2n, 3n, -255n, 2n ** 63n - 1n]) await judge.call(ask.leaseGrant, { ID, TTL: 600n });
  await locks(judge);
  await waiters(judge);
  await leases(judge);
  await elections(judge);
  await observers(judge);
  await refusals(judge);
  await judge.call(ask.range, { key: '\0', rangeEnd: '\0' });
}

async function locks(judge: Judge): Promise<void> {
  for (const lease of [1n, -255n, 2n ** 63n - 1n]) {
    for (const name of ['', 'm', 'a/b', '\xff\0']) {
      const { messages } = await judge.call(lock, { name, lease });
      await judge.call(lock, { name, lease });
      await judge.call(unlock, { key: String(messages[0]?.['key'] ?? '') });
    }
  }
  // Each store chooses the lease, which is the end of the key.
  for (let times = 0; times < 2; times += 1) await judge.call(lock, { name: `chosen ${times}` }, { ignore: ['key'] });
  await judge.call(ask.deleteRange, { key: '\0', rangeEnd: '\0' });
}

/** One waits behind the other; a waiter that leaves, and one that waits for nobody. */
async function waiters(judge: Judge): Promise<void> {
  const first = await judge.call(lock, { name: 'm', lease: 3n });
  const second = await waiting(judge, lock, { name: 'm', lease: 1n }, 'm/1');
  const third = await waiting(judge, lock, { name: 'm', lease: 2n }, 'm/2');
  await judge.call(ask.put, { key: 'm/3', value: 'a change is no end', lease: 3n });
  await judge.call(unlock, { key: String(first.messages[0]?.['key']) });
  await second();
  await judge.call(unlock, { key: 'm/1' });
  await third();
  await judge.call(unlock, { key: 'm/2' });
  await judge.call(unlock, { key: 'm/2' });
}

/** The end of the holder's lease, and that of the waiter's own. */
async function leases(judge: Judge): Promise<void> {
  for (const ID of [11n, 12n]) await judge.call(ask.leaseGrant, { ID, TTL: 600n });
  await judge.call(lock, { name: 'l', lease: 11n });
  const heir = await waiting(judge, lock, { name: 'l', lease: 1n }, 'l/1');
  await judge.call(ask.leaseRevoke, { ID: 11n });
  await heir();
  const lost = await waiting(judge, lock, { name: 'l', lease: 12n }, 'l/c');
  await judge.call(ask.leaseRevoke, { ID: 12n });
  await judge.call(unlock, { key: 'l/1' });
  await lost();
}

async function elections(judge: Judge): Promise<void> {
  await judge.call(leader, { name: 'e' });
  const first = await judge.call(campaign, { name: 'e', lease: 1n, value: 'a' });
  const leads = first.messages[0]?.['leader'] as Fields;
  const next = await waiting(judge, campaign, { name: 'e', lease: 2n, value: 'b' }, 'e/2');
  await judge.call(leader, { name: 'e' });
  await judge.call(campaign, { name: 'e', lease: 1n, value: 'a' });
  await judge.call(campaign, { name: 'e', lease: 1n, value: 'said by Campaign' });
  await judge.call(proclaim, { leader: leads, value: 'said by Proclaim' });
  await judge.call(proclaim, { leader: { ...leads, rev: 1n }, value: 'of another life' });
  await judge.call(resign, { leader: { ...leads, rev: 1n } });
  await judge.call(leader, { name: 'e' });
  await judge.call(resign, { leader: leads });
  await next();
  await judge.call(resign, { leader: leads });
  await judge.call(proclaim, { leader: leads, value: 'too late' });
  await judge.call(leader, { name: 'e' });
}

async function observers(judge: Judge): Promise<void> {
  const pair = new StreamPair(
    judge,
    '/v3electionpb.Election/Observe',
    'v3electionpb.LeaderRequest',
    'v3electionpb.LeaderResponse',
  );
  pair.send({ name: 'o' });
  pair.halfClose();
  await sleep(200); // nobody leads yet
  const { messages } = await judge.call(campaign, { name: 'o', lease: 1n, value: 'a' });
  const leads = messages[0]?.['leader'] as Fields;
  let count = 1;
  const shown = (): Promise<boolean> => pair.until(`${count} leaders`, (store) => pair.messages(store).length >= count);
  await shown();
  for (const value of ['b', 'c']) {
    await judge.call(proclaim, { leader: leads, value });
    count += 1;
    await shown();
  }
  const next = await waiting(judge, campaign, { name: 'o', lease: 2n, value: 'd' }, 'o/2');
  await judge.call(resign, { leader: leads });
  await next();
  count += 1;
  await shown();
  judge.equal('the leaders of an election', pair.messages(0), pair.messages(1));
  pair.close();
}

async function refusals(judge: Judge): Promise<void> {
  await judge.call(lock, { name: 'm', lease: 99n });
  await judge.call(campaign, { name: 'm', lease: 99n, value: 'x' });
  await judge.call(unlock, {});
  await judge.call(unlock, { key: 'none' });
  await judge.call(lock, { name: 'n'.repeat(1.5 * 1024 * 1024), lease: 1n });
  await judge.call(proclaim, { value: 'x' });
  await judge.call(resign, {});
  await judge.call(proclaim, { leader: { name: 'm', key: '', rev: 1n, lease: 1n }, value: 'x' });
  await judge.call(resign, { leader: { name: 'm', key: '', rev: 1n, lease: 1n } });
  await judge.call(proclaim, { leader: { key: 'none', rev: 0n, lease: 99n }, value: 'x' });
  await judge.call(ask.alarm, { action: 1, alarm: 1 });
  await judge.call(lock, { name: 'm', lease: 1n });
  await judge.call(ask.alarm, { action: 2, alarm: 1 });
}

/** A call that has its key in both stores and waits for others. Its answers are compared when it ends: the result awaits that. */
async function waiting(judge: Judge, asked: Method, request: Fields, key: string): Promise<() => Promise<Answer>> {
  const answer = judge.call(asked, request);
  answer.catch(() => undefined);
  const range = encode(ask.range.request, { key, serializable: true }, 0);
  for (const store of STORES.keys()) {
    for (const endMs = Date.now() + WAIT_MAX_MS; ; await sleep(10)) {
      const { messages } = await judge.stores.call(store, ask.range.path, range, {});
      if (decode(ask.range.response, messages[0] ?? new Uint8Array(), () => undefined)['count'] === 1n) break;
      if (Date.now() > endMs) throw new Error(`${STORES[store]} has no ${key} for a call that waits`);
    }
  }
  return () => answer;
}
