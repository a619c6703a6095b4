/**
 * A transaction with a very long answer is asked at a follower of three members on PD and three stores. The answer is
 * whole, no member sees another term, and a modest client of the leader is served meanwhile. See README.md.
 *
 *   large-answer.ts <folder>
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { mvccpb } from '@engram/wire';
import { EtcdClient } from '../../test/support/etcd-client.ts';
import { stillHeld } from '../support/nothing-held.ts';
import { Lab } from '../tikv/lab.ts';
import { Checks } from './checks.ts';
import { type ClusterPlace, freePlaces, leaderAmong, MemberProcess } from './cluster-member.ts';
import { spread } from './load.ts';

const folder = process.argv[2] ?? '.';
const KEYS = 200;
const VALUE_BYTES = 100_000;
/** Each range of the transaction lists all keys: its answer is so many times the store. */
const RANGES = 10;
const ANSWER_BYTES = KEYS * VALUE_BYTES * RANGES;
/**
 * What a call of the modest client may take, without what it and the leader wait for a core: 99 of 100, and each one. A
 * member asks for votes after 1 s without its leader.
 */
const NEIGHBOUR_P99_MS = 250;
const NEIGHBOUR_MAX_MS = 1000;
const QUIET_MS = 2000;

/** The latencies that a modest client sees, in a process of its own. */
class Neighbour implements Disposable {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.#lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
    process.once('exit', () => child.kill('SIGKILL'));
  }

  static async at({ endpoint, pid }: MemberProcess): Promise<Neighbour> {
    const file = join(import.meta.dirname, 'neighbour.ts');
    const stdio = ['pipe', 'pipe', 'inherit'] as const;
    const neighbour = new Neighbour(spawn(process.execPath, [file, endpoint, String(pid)], { stdio: [...stdio] }));
    assert.equal((await neighbour.#lines.next()).value, 'ready');
    return neighbour;
  }

  /** Since the last call, in ms. */
  async latencies(): Promise<readonly number[]> {
    this.#child.stdin!.write('\n');
    const { value, done } = await this.#lines.next();
    assert.ok(done !== true, 'the modest client has ended');
    return JSON.parse(value) as number[];
  }

  [Symbol.dispose](): void {
    this.#child.stdin!.end();
  }
}

const lab = await Lab.startReplicated(join(folder, 'lab'), { strict: false });
const place: ClusterPlace = { pd: lab.pdAddresses, prefix: 'large', members: await freePlaces(folder) };
const members = place.members.map((member) => new MemberProcess(place, member));
for (const member of members) member.start();
await Promise.all(members.map((member) => member.ready()));
const checks = new Checks(() => members);

/** The term of each member, and who it thinks leads. */
async function terms(): Promise<readonly string[]> {
  const seen = members.map(async ({ place: { name }, endpoint }) => {
    using client = new EtcdClient(endpoint);
    const { raftTerm, leader } = await client.status();
    return `${name}: term ${raftTerm}, leader ${leader}`;
  });
  return Promise.all(seen);
}

const digest = (kvs: readonly mvccpb.KeyValue[]): string => {
  const hash = createHash('sha256');
  for (const kv of kvs)
    hash.update(kv.key).update(kv.value).update(`${kv.createRevision} ${kv.modRevision} ${kv.version}`);
  return hash.digest('hex');
};

const leader = await leaderAmong(members);
const list = { key: Buffer.from('large/'), rangeEnd: Buffer.from('large0') };
{
  using client = new EtcdClient(leader.endpoint);
  for (let at = 0; at < KEYS; at += 1)
    await client.put({ key: Buffer.from(`large/${String(at).padStart(4, '0')}`), value: randomBytes(VALUE_BYTES) });
}
const before = await terms();
using neighbour = await Neighbour.at(leader);
await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
const quiet = await neighbour.latencies();

for (const follower of members.filter((member) => member !== leader)) {
  await checks.check(`a transaction at a follower whose answer has ${ANSWER_BYTES / 1e6} MB`, async () => {
    const messageBytesMax = 2 * ANSWER_BYTES;
    using client = new EtcdClient(follower.endpoint, { deadlineMs: 20_000, messageBytesMax });
    await neighbour.latencies();
    const startMs = performance.now();
    const written = { requestPut: { key: Buffer.from('written'), value: Buffer.from(follower.place.name) } };
    const { responses, header } = await client.txn({
      success: [written, ...Array.from({ length: RANGES }, () => ({ requestRange: list }))],
    });
    const tookMs = performance.now() - startMs;
    const latencies = (await neighbour.latencies()).toSorted((left, right) => left - right);
    assert.equal(responses.length, 1 + RANGES);
    const expected = await client.range({ ...list, revision: header!.revision });
    assert.equal(expected.kvs.length, KEYS);
    for (const { responseRange } of responses.slice(1)) {
      assert.equal(responseRange?.count, KEYS);
      assert.equal(digest(responseRange.kvs), digest(expected.kvs));
    }
    const { kvs } = await client.range({ key: Buffer.from('written') });
    assert.equal(kvs[0]?.modRevision, header!.revision, 'what the transaction wrote');
    assert.deepEqual(await terms(), before);
    const rounded = spread(latencies.map(Math.round));
    const p99Ms = latencies[Math.floor(latencies.length * 0.99)]!;
    assert.ok(p99Ms <= NEIGHBOUR_P99_MS, `a modest client of the leader: ${rounded}`);
    assert.ok(latencies.at(-1)! <= NEIGHBOUR_MAX_MS, `a modest client of the leader: ${rounded}`);
    return `${Math.round(tookMs)} ms; a modest client of the leader meanwhile: ${rounded}; before: ${spread(quiet.map(Math.round))}`;
  });
}

await checks.check('no member holds anything of these answers', async () => {
  neighbour[Symbol.dispose]();
  for (const { endpoint } of members) assert.deepEqual(await stillHeld(endpoint), [], endpoint);
  return `${members.length} members`;
});
for (const member of members) await member.stop().catch(() => undefined);
await lab[Symbol.asyncDispose]();
console.log(`e2e-cluster, large answers: ${checks.passed} passed, ${checks.failed} failed`);
process.exit(checks.failed === 0 ? 0 : 1);
