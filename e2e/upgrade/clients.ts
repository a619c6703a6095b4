import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Prng } from '@engram/sim';
import { EtcdClient, EtcdError } from '../../test/support/etcd-client.ts';
import { Recorder } from '../../test/linearizability/record.ts';
import { RecordedClients } from '../chaos/clients.ts';
import { judge } from '../chaos/judge.ts';
import { LeaseHolder } from '../chaos/lease-holder.ts';
import { type Seen, Witness } from '../chaos/witness.ts';
import { Load, RetryingClients } from '../cluster/load.ts';
import { stillHeld } from '../support/nothing-held.ts';

/** More than a message between members takes: such a batch goes in pieces. */
const LONG_RECORDS = 5000;
const WRITES_OF_EACH = 20;
const PROGRESS_MAX_MS = 60_000;

/** The clients of e2e/chaos at all members, and their judges. */
export class Clients {
  readonly #endpoints: readonly string[];
  readonly #seen: Seen[] = [];
  readonly #witnesses: readonly Witness[];
  readonly #load: Load;
  readonly #recorder: Recorder;
  readonly #recorded: RecordedClients;
  readonly #holders: readonly LeaseHolder[];
  #long = 0;

  constructor(endpoints: readonly string[], prng: Prng) {
    this.#endpoints = endpoints;
    this.#witnesses = [
      new Witness('anywhere', endpoints, (event) => this.#seen.push(event)),
      ...endpoints.map((endpoint) => new Witness(`at ${endpoint}`, [endpoint])),
    ];
    this.#load = new Load(endpoints, 2, { deadlineMs: 3000, betweenMs: 5 });
    this.#recorder = new Recorder(prng);
    this.#recorded = new RecordedClients(this.#recorder, [...endpoints, ...endpoints]);
    this.#holders = endpoints.map((_, at) => new LeaseHolder(`${at}`, endpoints, prng));
  }

  /**
   * What members of two versions have to do together: writes at each member, a transaction and a deletion whose batches go in
   * pieces, a compaction, the events of all that at each member, and then equal copies.
   */
  async workTogether(): Promise<string> {
    const from = this.#load.acknowledged.length;
    for (const endpoint of this.#endpoints) await this.#longChanges(endpoint);
    const begin = performance.now();
    const poor = (): string | undefined =>
      this.#endpoints.find((endpoint) => {
        const of = this.#load.acknowledged.slice(from).filter(({ value }) => value === endpoint);
        return of.length < WRITES_OF_EACH;
      });
    for (let which = poor(); which !== undefined; which = poor()) {
      assert.ok(performance.now() - begin < PROGRESS_MAX_MS, `few writes at ${which}`);
      await sleep(20);
    }
    const revision = await this.#seenByAll();
    using client = new EtcdClient(this.#endpoints[this.#long % this.#endpoints.length]!);
    const hashes = new Set(await Promise.all(this.#endpoints.map((endpoint) => hashAt(endpoint, revision))));
    assert.equal(hashes.size, 1, `hashes differ at ${revision}: ${[...hashes].join('; ')}`);
    await client.compact({ revision: revision - 1 });
    return `${this.#load.acknowledged.length - from} writes, revision ${revision}, hash ${[...hashes][0]}`;
  }

  /** Runs `steps` while clients with all endpoints go on: none of their calls may fail twice. */
  async withoutFailure(steps: () => Promise<void>): Promise<string> {
    const clients = new RetryingClients(this.#endpoints, 3);
    const startMs = performance.now();
    try {
      await steps();
    } finally {
      await clients.stop();
    }
    assert.deepEqual(clients.failures, [], 'calls failed twice');
    const pauseMs = Math.round(this.#load.longestPauseMs(startMs, performance.now() - startMs));
    return `${clients.requests} calls, ${clients.retries} made again once; longest time without an acknowledged write ${pauseMs} ms`;
  }

  /** Ends the clients. Returns what was violated. */
  async end(): Promise<readonly string[]> {
    await Promise.all([this.#load.stop(), this.#recorded.stop(), ...this.#holders.map((holder) => holder.stop())]);
    const problems = [
      ...(await judge({
        endpoints: this.#endpoints,
        load: this.#load,
        recorder: this.#recorder,
        holders: this.#holders,
        witnesses: this.#witnesses,
        seen: this.#seen,
      })),
    ];
    for (const witness of this.#witnesses) await witness.stop();
    for (const endpoint of this.#endpoints)
      for (const held of await stillHeld(endpoint))
        problems.push(`${endpoint} holds for calls that have ended: ${held}`);
    return problems;
  }

  get summary(): string {
    const leases = this.#holders.reduce((sum, holder) => sum + holder.leases.size, 0);
    return `${this.#load.acknowledged.length} writes acknowledged, ${this.#load.uncertain} without an answer, ${this.#recorder.calls} calls checked, ${leases} leases, ${this.#seen.length} events`;
  }

  /** One revision that puts very many keys, and one that deletes them. */
  async #longChanges(endpoint: string): Promise<void> {
    using client = new EtcdClient(endpoint, { deadlineMs: 30_000 });
    this.#long += 1;
    const prefix = `long/${this.#long}/`;
    const success = Array.from({ length: LONG_RECORDS }, (_, at) => ({
      requestPut: { key: Buffer.from(`${prefix}${at}`), value: Buffer.from(`${at}`) },
    }));
    await untilAnswered(() => client.txn({ success }));
    const end = Buffer.from(prefix);
    end[end.length - 1]! += 1;
    await untilAnswered(() => client.deleteRange({ key: Buffer.from(prefix), rangeEnd: end }));
    const { count } = await untilAnswered(() => client.range({ key: Buffer.from(prefix), rangeEnd: end }));
    assert.equal(Number(count), 0, `left at ${endpoint}`);
  }

  /** A revision that the writers have passed and every watcher has seen. */
  async #seenByAll(): Promise<number> {
    const wanted = this.#load.acknowledged.at(-1)!.revision;
    const begin = performance.now();
    for (;;) {
      const last = Math.min(...this.#witnesses.map((witness) => witness.last));
      if (last >= wanted) return last;
      assert.ok(performance.now() - begin < PROGRESS_MAX_MS, `a watcher is at ${last}, and not at ${wanted}`);
      await sleep(20);
    }
  }
}

/** A call may be late on a busy machine, or while the leadership moves. Both changes may be made twice. */
async function untilAnswered<Answer>(call: () => Promise<Answer>): Promise<Answer> {
  const begin = performance.now();
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof EtcdError) || performance.now() - begin > PROGRESS_MAX_MS) throw error;
    }
  }
}

async function hashAt(endpoint: string, revision: number): Promise<string> {
  using client = new EtcdClient(endpoint, { deadlineMs: 30_000 });
  // Linearizable: the member has applied all that was acknowledged.
  await untilAnswered(() => client.range({ key: Buffer.from('x') }));
  const { hash, compactRevision } = await untilAnswered(() => client.hashKv({ revision }));
  return `${hash} from ${compactRevision}`;
}
