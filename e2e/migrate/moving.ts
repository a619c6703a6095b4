import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Prng } from '@engram/sim';
import { ALL_KEYS, EtcdClient } from '../../test/support/etcd-client.ts';
import { churn, revisionOf } from '../snapshot/fill.ts';
import { history, keysAt, leases, type Picture, same } from '../snapshot/picture.ts';
import { equal } from '../support/judge.ts';

const DEADLINE_MS = 60_000;
const COMMAND_MAX_MS = 60_000;
/** Without any progress. */
const STANDSTILL_MAX_MS = 60_000;
const LEASES_MAX_MS = 30_000;
export const engram = join(import.meta.dirname, '../../packages/server/bin/engram');

/** A process that serves the API of etcd. */
export interface Serving {
  readonly endpoint: string;
}

export const clientOf = (store: Serving): EtcdClient => new EtcdClient(store.endpoint, { deadlineMs: DEADLINE_MS });

/** Of an etcd that does not answer: the call has had its time, or before that the ping of its connection. */
export const SAYS_SILENT = /no answer to \/etcdserverpb|Connection dropped/;

export const refusalOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'taken',
    (error: unknown) => String(error),
  );

/** What `engram` prints with these arguments. Rejects with its output if it refuses. */
export async function command(...args: readonly string[]): Promise<string> {
  const options = { timeout: COMMAND_MAX_MS, killSignal: 'SIGKILL' as const };
  return (await promisify(execFile)(engram, args, options)).stdout;
}

export const readyz = async (store: Serving): Promise<string> =>
  await (await fetch(`http://${store.endpoint}/readyz?verbose`)).text();

export async function revisionNow(store: Serving): Promise<number> {
  using client = clientOf(store);
  return revisionOf((await client.range({ ...ALL_KEYS, countOnly: true })).header);
}

/** Resolves when the engram that follows says that nothing is missing. `followed`: who does at the moment. */
export async function caughtUp(followed: () => Promise<Serving>, revision: number): Promise<void> {
  let newest = 0;
  let sinceMs = performance.now();
  for (;;) {
    const text = await readyz(await followed()).catch(String);
    if (text.includes(` 0 revisions behind, at ${revision} `)) return;
    const at = Number(/revisions behind, at (\d+)/.exec(text)?.[1] ?? 0);
    if (at > newest) sinceMs = performance.now();
    newest = Math.max(newest, at);
    const stoodMs = performance.now() - sinceMs;
    if (stoodMs > STANDSTILL_MAX_MS) throw new Error(`it does not catch up with ${revision}: ${text}`);
    await sleep(50);
  }
}

/** Writes in the background, with a pause behind each ten writes, until `end` is called: then all of it is acknowledged. */
export class Writer {
  readonly #done: Promise<void>;
  #ending = false;

  constructor(store: Serving, prng: Prng, pauseMs = 0) {
    this.#done = this.#write(store, prng, pauseMs);
  }

  async #write(store: Serving, prng: Prng, pauseMs: number): Promise<void> {
    using client = clientOf(store);
    // A store that restarts refuses for a while.
    while (!this.#ending) {
      await churn(client, prng, 10).catch(() => sleep(20));
      if (pauseMs > 0) await sleep(pauseMs);
    }
  }

  async end(): Promise<void> {
    this.#ending = true;
    await this.#done;
  }
}

/** Every revision from `from` on: its events, and the keys at some. */
export async function compareAll(what: string, found: Serving, wanted: Serving, from: number): Promise<void> {
  using left = clientOf(found);
  using right = clientOf(wanted);
  const newest = await revisionNow(wanted);
  equal(`${what}: the revision`, await revisionNow(found), newest);
  const between = [0, 1, 2, 3].map((part) => from + Math.floor(((newest - from) * part) / 4));
  for (const at of [0, ...between]) same(`${what}, keys at ${at}`, await keysAt(left, at), await keysAt(right, at));
  const eventsOf = async (client: EtcdClient): Promise<Picture> => await history(client, from, newest);
  same(`${what}, events`, await eventsOf(left), await eventsOf(right));
  await sameLeases(what, left, right);
}

/** The end of a lease without keys is no event: it is found when the lists are compared, once in some seconds. */
async function sameLeases(what: string, found: EtcdClient, wanted: EtcdClient): Promise<void> {
  const untilMs = performance.now() + LEASES_MAX_MS;
  for (;;) {
    const [left, right] = [await leases(found), await leases(wanted)];
    if (performance.now() > untilMs || left.join() === right.join()) return same(`${what}, leases`, left, right);
    await sleep(200);
  }
}
