/**
 * Three members on PD and one store that supports delete-range. Images of the store are written, and the log is trimmed,
 * every few seconds under a load of overwrites and compactions. Meanwhile members lose their disks and leaders are
 * killed. In the end all members start without a disk. No acknowledged write may be lost, all copies must be equal, and
 * the data in TiKV must stay bounded.
 *
 *   images.ts <folder> [--rounds N]
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs, promisify } from 'node:util';
import { LogKeys, type StorageReport } from '@engram/storage-tikv';
import { TikvClient } from '@engram/tikv-client';
import { ALL_KEYS, EtcdClient, EtcdError } from '../../test/support/etcd-client.ts';
import { Lab } from '../tikv/lab.ts';
import { Checks } from './checks.ts';
import { freePlaces, type ClusterPlace, leaderAmong, MemberProcess } from './cluster-member.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '5' } },
});
const rounds = Number(values.rounds);
const folder = positionals[0] ?? '.';
const KEYS = 300;
/** Once a writer has written all of its keys, it overwrites this many, so that other pages stay clean and are kept. */
const HOT_KEYS = 30;
/** One in this many overwrites goes to any of a writer's keys. */
const COLD_EVERY = 1000;
const VALUE_BYTES = 512;
const SEGMENT_BYTES = 1 << 17;
const EVERY_BYTES = 1 << 20;
/** The test waits for this many images, up to IMAGES_MAX_MS on a slow machine. */
const IMAGES = 4;
const IMAGES_MAX_MS = 180_000;

const lab = await Lab.start(join(folder, 'lab'), { store: 'onenode' });
const place: ClusterPlace = {
  pd: lab.pdAddresses,
  prefix: 'images',
  members: await freePlaces(folder),
};
const flags = [
  `--log-segment-bytes=${SEGMENT_BYTES}`,
  `--image-every-bytes-min=${EVERY_BYTES}`,
  '--image-interval=500ms',
  '--log-member-timeout=20s',
];
// The last member has no disk.
const members = place.members.map((member) => {
  const own = member.name === 'c' ? [...flags, '--local-values=memory'] : flags;
  return new MemberProcess(place, member, own, logged);
});
/** Of all lives of all members. */
const images = { published: 0, trims: 0, pages: 0, kept: 0 };
for (const member of members) member.start();
await Promise.all(members.map((member) => member.ready()));

const checks = new Checks(() => members);
const { check } = checks;

/** Writers that each overwrite their own keys, and a client that compacts after them. */
class Overwrites {
  /** The newest acknowledged write of each key. */
  readonly acknowledged = new Map<string, { readonly value: string; readonly revision: number }>();
  count = 0;
  compactions = 0;
  readonly #unknown = new Set<string>();
  readonly #stop = new AbortController();
  #compacting = Promise.resolve();
  #keepsHistory = false;
  readonly #running: Promise<void>[];

  constructor() {
    this.#running = members.flatMap((member, at) => [this.#write(member, at * 2), this.#write(member, at * 2 + 1)]);
    this.#running.push(this.#compact());
  }

  async #write({ endpoint }: MemberProcess, writer: number): Promise<void> {
    using client = new EtcdClient(endpoint);
    for (let turn = 0; !this.#stop.signal.aborted; turn += 1) {
      const key = `${writer}/${String(keyAt(turn)).padStart(3, '0')}`;
      const value = `${turn}`.padEnd(VALUE_BYTES, '.');
      try {
        const { header } = await client.put({ key: Buffer.from(key), value: Buffer.from(value) });
        this.acknowledged.set(key, { value, revision: Number(header?.revision ?? 0) });
        this.#unknown.delete(key);
        this.count += 1;
      } catch (error) {
        if (!(error instanceof EtcdError)) throw error;
        this.#unknown.add(key);
        await sleep(20);
      }
    }
  }

  async #compact(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      await sleep(1000);
      if (this.#keepsHistory) continue;
      this.#compacting = this.#compactOnce();
      await this.#compacting;
    }
  }

  async #compactOnce(): Promise<void> {
    try {
      using client = new EtcdClient((await leader()).endpoint);
      const { header } = await client.range({ ...ALL_KEYS, countOnly: true });
      await client.compact({ revision: Number(header?.revision ?? 0) - 100 });
      this.compactions += 1;
    } catch (error) {
      if (!(error instanceof EtcdError)) throw error;
    }
  }

  /** Does work on a revision of now, which no compaction overtakes meanwhile. */
  async keepingHistory<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#keepsHistory = true;
    try {
      await this.#compacting;
      return await work();
    } finally {
      this.#keepsHistory = false;
    }
  }

  async until(more: number): Promise<void> {
    const due = this.count + more;
    const endMs = performance.now() + 60_000;
    while (this.count < due) {
      assert.ok(performance.now() < endMs, `only ${this.count} of ${due} writes in a minute`);
      await sleep(20);
    }
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#running);
  }

  /** Checks that each key has its last acknowledged value, or a later one whose write was not answered. */
  async checkAt(endpoint: string): Promise<number> {
    using client = new EtcdClient(endpoint, { deadlineMs: 60_000 });
    const { kvs, header } = await client.range({ ...ALL_KEYS });
    const found = new Map(kvs.map((kv) => [Buffer.from(kv.key).toString(), kv]));
    for (const [key, { value, revision }] of this.acknowledged) {
      const kv = found.get(key);
      assert.ok(kv !== undefined, `${key} is lost`);
      assert.ok(Number(kv.modRevision) >= revision, `${key} has gone back to ${kv.modRevision} from ${revision}`);
      const same = Buffer.from(kv.value).toString() === value && Number(kv.modRevision) === revision;
      assert.ok(same || this.#unknown.has(key), `${key} has another value than was acknowledged`);
    }
    return Number(header?.revision ?? 0);
  }
}

function keyAt(turn: number): number {
  if (turn < KEYS) return turn;
  return turn % COLD_EVERY === 0 ? (turn / COLD_EVERY) % KEYS : turn % HOT_KEYS;
}

const leader = (): Promise<MemberProcess> => leaderAmong(members);

const equalHashes = (): Promise<string> => load.keepingHistory(compareHashes);

async function compareHashes(): Promise<string> {
  using first = new EtcdClient(members[0]!.endpoint);
  const { header } = await first.range({ ...ALL_KEYS, countOnly: true });
  const revision = Number(header?.revision ?? 0);
  const hashes = new Set<number>();
  for (const { endpoint } of members) {
    using each = new EtcdClient(endpoint, { deadlineMs: 60_000 });
    await each.range({ key: Buffer.from('x') });
    hashes.add((await each.hashKv({ revision })).hash);
  }
  assert.equal(hashes.size, 1, `hashes differ at ${revision}`);
  return `hash ${[...hashes][0]} at ${revision}`;
}

/** The bytes of the log and of the images, and the number of log segments. */
async function sizes(client: TikvClient): Promise<{ log: number; images: number; segments: number }> {
  const keys = new LogKeys(place.prefix);
  const snapshot = await client.snapshot();
  let [log, images] = [0, 0];
  const segments = new Set<number>();
  for await (const { key, value } of snapshot.scan(keys.logStart, keys.logEnd)) {
    log += value.length;
    const parsed = keys.parse(key);
    if (parsed?.kind === 'slot') segments.add(parsed.segment);
  }
  const range = { start: keys.roundStart(0), end: keys.roundStart(Number.MAX_SAFE_INTEGER) };
  for await (const { value } of snapshot.scan(range.start, range.end)) images += value.length;
  return { log, images, segments: segments.size };
}

const client = await TikvClient.connect({ pdAddresses: lab.pdAddresses });
const load = new Overwrites();
await load.until(500);

await check('log and images stay bounded under overwrites', async () => {
  const largest = { log: 0, images: 0, segments: 0 };
  const endMs = performance.now() + IMAGES_MAX_MS;
  while (images.published < IMAGES) {
    assert.ok(performance.now() < endMs, `only ${images.published} images were published`);
    await sleep(500);
    const now = await sizes(client);
    largest.log = Math.max(largest.log, now.log);
    largest.images = Math.max(largest.images, now.images);
    largest.segments = Math.max(largest.segments, now.segments);
  }
  const written = load.count * VALUE_BYTES;
  assert.ok(images.trims > 1, 'the log was not trimmed');
  const live = 6 * KEYS * VALUE_BYTES;
  // The log may hold what is due before a round, what is written during one, and what lagging members hold back.
  assert.ok(largest.log < 4 * Math.max(EVERY_BYTES, 2 * live) + 4 * SEGMENT_BYTES, `${largest.log} bytes of log`);
  return `${load.count} writes, ${mib(written)} of values; at most ${mib(largest.log)} of log in ${largest.segments} segments, ${mib(largest.images)} of images; ${images.published} images, ${images.trims} trims, ${load.compactions} compactions`;
});

await check('each member in turn loses its disk under load', async () => {
  const took: number[] = [];
  for (const member of members) {
    await member.stop();
    await rm(member.place.dataDir, { recursive: true, force: true });
    await load.until(300);
    const startMs = performance.now();
    member.start();
    await member.ready();
    took.push(Math.round(performance.now() - startMs));
    await load.until(300);
  }
  return `ready after ${took.join(', ')} ms; ${await equalHashes()}`;
});

await check(`kill -9 of the leader, ${rounds} times, while images are written`, async () => {
  const before = images.published;
  for (let round = 0; round < rounds; round += 1) {
    const victim = await leader();
    for (let waited = 0; waited < 200 && !victim.lines.slice(-3).join().includes('writes an image'); waited += 1)
      await sleep(50);
    await victim.kill();
    await load.until(200);
    if (round % 2 === 0) await rm(victim.place.dataDir, { recursive: true, force: true });
    victim.start();
    await victim.ready();
  }
  const { pages, kept } = images;
  assert.ok(kept > 0, 'no image kept a page of the image before');
  return `${images.published - before} images meanwhile; ${kept} of ${pages} pages kept so far; ${await equalHashes()}`;
});

await load.stop();
await check('all members are stopped, lose their disks, and start', async () => {
  const before = await load.checkAt(members[0]!.endpoint);
  const hash = await equalHashes();
  await Promise.all(members.map((member) => member.stop()));
  for (const { place: at } of members) await rm(at.dataDir, { recursive: true, force: true });
  for (const member of members) member.start();
  await Promise.all(members.map((member) => member.ready()));
  for (const { endpoint } of members) assert.ok((await load.checkAt(endpoint)) >= before, 'revisions went back');
  assert.equal(await equalHashes(), hash);
  using writer = new EtcdClient(members[1]!.endpoint);
  const { header } = await writer.put({ key: Buffer.from('after'), value: Buffer.from('x') });
  assert.equal(Number(header?.revision ?? 0), before + 1, 'revisions do not go on');
  return `${load.acknowledged.size} keys, revision ${before}, ${hash}`;
});

await check('inspect-storage shows what is there', async () => {
  const engram = join(import.meta.dirname, '../../packages/server/bin/engram');
  const args = ['inspect-storage', '--storage=tikv', `--tikv-pd-endpoints=${place.pd.join()}`, '--tikv-prefix=images'];
  const { stdout } = await promisify(execFile)(engram, args);
  const report: StorageReport = JSON.parse(stdout);
  assert.equal(report.rounds.filter(({ state }) => state === 'published').length, 1);
  // Besides those whose pages it keeps there may be the previous one, and one that a leader did not live to publish.
  const left = report.rounds.filter(({ state }) => state !== 'kept');
  assert.ok(left.length <= 3, `rounds that were left: ${JSON.stringify(report.rounds)}`);
  assert.equal(report.needs.length, 3);
  assert.equal(report.log.segments[0]?.first, report.log.begin);
  return `${report.log.segments.length} segments from ${report.log.begin} to ${report.log.next}, image ${report.image?.round} at ${report.image?.from}, pieces of ${report.rounds.length} rounds; trimming waits for ${report.trimWaitsFor}`;
});

await client.close();
for (const member of members) await member.stop().catch(() => undefined);
await lab[Symbol.asyncDispose]();
console.log(`e2e-cluster-images: ${checks.failed} failed`);
process.exit(checks.failed === 0 ? 0 : 1);

function logged(line: string): void {
  if (line.includes('trimmed the log')) images.trims += 1;
  if (!line.includes('published an image')) return;
  const [pages, written] = ['pages', 'written'].map((name) => Number(new RegExp(`"${name}":(\\d+)`).exec(line)?.[1]));
  images.published += 1;
  images.pages += pages!;
  images.kept += pages! - written!;
}

function mib(bytes: number): string {
  return `${(bytes / (1 << 20)).toFixed(1)} MiB`;
}
