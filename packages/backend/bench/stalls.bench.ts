import { setImmediate as turn } from 'node:timers/promises';
import { type Backend, nodeItself, openBackend } from '@engram/backend';
import {
  rangeOp,
  type Compare,
  EMPTY_BYTES,
  epoch,
  keyBytes,
  leaseId,
  type Op,
  type PutOp,
  putOp,
  type RangeOp,
  type Revision,
  revision,
  SortOrder,
  SortTarget,
  type Txn,
} from '@engram/core';
import { quiet, realClock, realRandom, StallMeter } from '@engram/sim';
import { MemoryStorage } from '@engram/storage';

/**
 * How long single requests block the event loop for other requests, on a store of KEYS keys without network and disk.
 * `longest` is the longest stretch between two turns in CPU time of the thread. The same stretch by the clock is
 * beside it. `took` is the time of the whole request.
 */
const smoke = process.env['SMOKE'] !== undefined;
const keys = Number(process.env['KEYS'] ?? (smoke ? 2_000 : 300_000));
const only = process.env['ONLY'] === undefined ? undefined : new RegExp(process.env['ONLY']);
const ALL = { key: Uint8Array.of(0), end: Uint8Array.of(0) };
const value = new Uint8Array(200).fill(7);
const keyOf = (at: number): Uint8Array =>
  keyBytes(`/registry/pods/namespace-${at % 50}/pod-${String(at).padStart(7, '0')}`);

const putOf = (at: number, lease = 0n, size = value.length): PutOp =>
  putOp(keyOf(at), value.subarray(0, size), { lease: leaseId(lease) });
const txnOf = (...success: Op[]): Txn => ({ compares: [], success, failure: [] });
const everything: RangeOp = rangeOp(ALL);
const deleteAll = (prevKv: boolean): Txn => txnOf({ kind: 'delete-range', range: ALL, prevKv });
const compareAll = (over: Partial<Compare>): Compare => ({
  range: ALL,
  result: 1,
  target: 2,
  number: 0,
  lease: leaseId(0n),
  value: EMPTY_BYTES,
  ...over,
});

function open(): Promise<Backend> {
  return openBackend({
    storage: new MemoryStorage(),
    epoch: epoch(1),
    clock: realClock,
    random: realRandom,
    logger: quiet,
    memberId: 1n,
    requestTimeoutMs: 600_000,
    onFatal: (error) => {
      throw error;
    },
  });
}

async function fill(backend: Backend, count: number, lease?: (at: number) => bigint): Promise<void> {
  for (let from = 0; from < count; from += 100) {
    const puts: Op[] = [];
    for (let at = from; at < Math.min(count, from + 100); at += 1) puts.push(putOf(at, lease?.(at)));
    await backend.txn(txnOf(...puts), nodeItself);
  }
}

/** A watcher of everything, with prev_kv. */
function watchFrom(backend: Backend, from: Revision, onEvents: () => void): void {
  const stream = backend.watchHub.openStream({
    events() {
      onEvents();
      return true;
    },
    compacted() {},
    progress() {},
    failed: onEvents,
  });
  const outcome = stream.create({
    range: ALL,
    startRevision: from,
    prevKv: true,
    progressNotify: false,
    noPut: false,
    noDelete: false,
    fragment: false,
    watchId: 0,
  });
  if (outcome.kind === 'created') stream.start(outcome.watcher);
}

interface Scenario {
  readonly name: string;
  readonly lease?: (at: number) => bigint;
  readonly leases?: number;
  readonly prepare?: (backend: Backend) => Promise<void>;
  readonly run: (backend: Backend) => unknown;
}

const range = (name: string, over: Partial<RangeOp>, prepare?: Scenario['prepare']): Scenario => ({
  name,
  ...(prepare === undefined ? {} : { prepare }),
  run: (backend) => backend.range({ ...everything, ...over }, nodeItself),
});
const updateAll = (backend: Backend): Promise<void> => fill(backend, keys);
const leasesOf = 500;

const scenarios: readonly Scenario[] = [
  { name: 'delete all', run: (backend) => backend.txn(deleteAll(false), nodeItself) },
  { name: 'delete all, prev_kv', run: (backend) => backend.txn(deleteAll(true), nodeItself) },
  {
    name: 'delete all, a watcher with prev_kv',
    prepare: async (backend) => watchFrom(backend, revision(0), () => {}),
    run: (backend) => backend.txn(deleteAll(false), nodeItself),
  },
  {
    name: 'a watcher with prev_kv that comes back to where all was deleted',
    prepare: async (backend) => {
      await backend.txn(deleteAll(false), nodeItself);
    },
    run: (backend) => new Promise<void>((resolve) => watchFrom(backend, backend.revision, resolve)),
  },
  {
    name: 'revoke a lease with all keys',
    leases: 1,
    lease: () => 1n,
    run: (backend) => backend.leaseRevoke(leaseId(1n), nodeItself),
  },
  {
    name: `revoke ${leasesOf} leases at once`,
    leases: leasesOf,
    lease: (at) => BigInt(1 + (at % leasesOf)),
    run: (backend) =>
      Promise.all(
        Array.from({ length: leasesOf }, (_, at) => backend.leaseRevoke(leaseId(BigInt(1 + at)), nodeItself)),
      ),
  },
  {
    name: 'keys of a lease with all keys',
    leases: 1,
    lease: () => 1n,
    run: (backend) => backend.leaseTimeToLive(leaseId(1n), true, nodeItself),
  },
  range('list all', {}),
  range('keys only', { keysOnly: true }),
  range('count', { countOnly: true }),
  range(
    'count at an old revision, all changed since',
    { countOnly: true, revision: Math.ceil(keys / 100) + 1 },
    updateAll,
  ),
  range('list 10 at an old revision, all deleted since', { limit: 10, revision: 2 }, async (backend) => {
    await backend.txn(deleteAll(false), nodeItself);
  }),
  range('descending, limit 10', { sortOrder: SortOrder.DESCEND, limit: 10 }),
  range('by value, limit 1', { sortTarget: SortTarget.VALUE, sortOrder: SortOrder.ASCEND, limit: 1 }),
  range('by value', { sortTarget: SortTarget.VALUE, sortOrder: SortOrder.ASCEND }),
  range('by mod revision, descending, limit 1', {
    sortTarget: SortTarget.MOD,
    sortOrder: SortOrder.DESCEND,
    limit: 1,
  }),
  range('by mod revision, descending', { sortTarget: SortTarget.MOD, sortOrder: SortOrder.DESCEND }),
  range('filtered by mod revision, limit 10', { minModRevision: 3, limit: 10 }),
  {
    name: 'a transaction of 128 counts',
    run: (backend) =>
      backend.txn(txnOf(...Array.from({ length: 128 }, () => ({ ...everything, countOnly: true }))), nodeItself),
  },
  {
    name: 'a transaction of 128 lists of all',
    run: (backend) => backend.txn(txnOf(...Array.from({ length: 128 }, () => everything)), nodeItself).catch(String),
  },
  {
    name: 'a put beside 3 lists of all',
    run: (backend) => backend.txn(txnOf(everything, putOf(0), everything, everything), nodeItself),
  },
  {
    name: 'a compare of all mod revisions',
    run: (backend) => backend.txn({ ...txnOf(putOf(0)), compares: [compareAll({})] }, nodeItself),
  },
  {
    name: 'a compare of all values',
    run: (backend) =>
      backend.txn({ ...txnOf(putOf(0)), compares: [compareAll({ target: 3, value: Uint8Array.of(0) })] }, nodeItself),
  },
  {
    name: 'a compare of all values, nothing written',
    run: (backend) =>
      backend.txn(
        { ...txnOf({ ...everything, limit: 1 }), compares: [compareAll({ target: 3, value: Uint8Array.of(0) })] },
        nodeItself,
      ),
  },
  { name: 'hash', run: (backend) => backend.hashKv(0, nodeItself.signal) },
  {
    name: 'an image',
    run: async (backend) => {
      const image = await backend.image(nodeItself.signal);
      image[Symbol.dispose]();
    },
  },
  {
    name: 'a compaction of all but nothing',
    prepare: updateAll,
    run: (backend) => backend.compact(backend.revision, true, nodeItself),
  },
];

console.log(`${keys} keys`);
for (const { name, lease, leases = 0, prepare, run } of scenarios) {
  if (only !== undefined && !only.test(name)) continue;
  const backend = await open();
  for (let id = 1; id <= leases; id += 1) await backend.leaseGrant(leaseId(BigInt(id)), 1000, nodeItself);
  await fill(backend, keys, lease);
  await prepare?.(backend);
  await turn();
  const before = process.memoryUsage();
  const startMs = performance.now();
  const { stall } = await StallMeter.during(() => run(backend));
  const tookMs = performance.now() - startMs;
  const after = process.memoryUsage();
  const mib = Math.round((after.rss - before.rss) / 2 ** 20);
  console.log(
    `${name}: longest ${stall.cpuMs.toFixed(1)} ms CPU, ${stall.wallMs.toFixed(1)} ms; took ${tookMs.toFixed(0)} ms; RSS ${mib >= 0 ? '+' : ''}${mib} MiB`,
  );
  await backend[Symbol.asyncDispose]();
}
