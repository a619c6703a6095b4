import { openBackend, type Backend, nodeItself } from '@engram/backend';
import { decodeKeyValue } from '@engram/coder';
import {
  EMPTY_BYTES,
  EngramError,
  epoch,
  type EventGroup,
  keyBytes,
  keyText,
  leaseId,
  type Logger,
  revision,
  type Revision,
  type Txn,
} from '@engram/core';
import { Prng, SimClock } from '@engram/sim';
import { type FaultPlan, MemoryStorage } from '@engram/storage';
import type { Watcher, WatchSink } from '@engram/watch-hub';
import { expect, test } from 'vitest';

// Seed 44 once lost an event: a checkpoint that began behind a compaction mark had not taken in what the mark means.
const SEED = Number(process.env['SEED'] ?? 1);
const RUNS = Number(process.env['SIM_RUNS'] ?? 60);
const quiet: Logger = { debug() {}, info() {}, warn() {}, error() {} };
const ALL = { key: Uint8Array.of(0), end: Uint8Array.of(0) };

/** One attempt of a client to write `value` to `key`, each value used once. */
interface Attempt {
  readonly key: string;
  readonly value: string;
  revision: number | undefined;
  refused: boolean;
}

/** Resumes as a client does: at the revision after the last that it saw. */
class ResumingWatch implements WatchSink {
  readonly seen: { revision: number; key: string; value: string; deleted: boolean; prev: string | undefined }[] = [];
  /** Revisions that compaction took before they could be delivered. */
  readonly gaps = new Set<number>();
  cancelled = false;
  next = 1;
  readonly #prng: Prng;
  #held: { drained(): void } | undefined;

  constructor(prng: Prng) {
    this.#prng = prng;
  }

  connect(backend: Backend): void {
    const stream = backend.watchHub.openStream(this);
    this.#held = stream;
    const outcome = stream.create({
      range: ALL,
      startRevision: revision(this.next),
      prevKv: true,
      progressNotify: false,
      noPut: false,
      noDelete: false,
      fragment: false,
      watchId: 0,
    });
    if (outcome.kind !== 'created') throw new Error(outcome.kind);
    stream.start(outcome.watcher);
  }

  events(_watcher: Watcher, groups: readonly EventGroup[]): boolean {
    if (this.#prng.chance(0.1)) {
      const stream = this.#held;
      setImmediate(() => stream?.drained());
      return false;
    }
    for (const group of groups) {
      expect(group.revision, 'watch events go back or repeat').toBeGreaterThanOrEqual(this.next);
      for (const event of group.events) {
        const kv = decodeKeyValue(event.kv);
        this.seen.push({
          revision: group.revision,
          key: keyText(kv.key),
          value: keyText(kv.value),
          deleted: event.type === 1,
          prev: event.prevKv === undefined ? undefined : keyText(decodeKeyValue(event.prevKv).value),
        });
      }
      this.next = group.revision + 1;
    }
    return true;
  }
  compacted(_watcher: Watcher, compactRevision: Revision): void {
    this.cancelled = true;
    for (; this.next < compactRevision; this.next += 1) this.gaps.add(this.next);
  }
  progress(): void {}
  failed(): void {}
}

function put(key: string, value: string): Txn {
  return {
    compares: [],
    success: [
      {
        kind: 'put',
        key: keyBytes(key),
        value: keyBytes(value),
        lease: leaseId(0n),
        prevKv: false,
        ignoreValue: false,
        ignoreLease: false,
      },
    ],
    failure: [],
  };
}

function remove(key: string): Txn {
  return {
    compares: [],
    success: [{ kind: 'delete-range', range: { key: keyBytes(key), end: EMPTY_BYTES }, prevKv: true }],
    failure: [],
  };
}

for (let run = 0; run < RUNS; run += 1) {
  const seed = SEED + run;
  test(`edge 79: acknowledged writes outlive crashes, and a watcher that resumes misses nothing (SEED=${seed})`, async () => {
    const prng = new Prng(seed);
    const faults = new Prng(seed + 1);
    // A disk that takes its time: operations end in later turns, so that many writes are under way at a crash.
    const plan: FaultPlan = {
      cold: faults.chance(0.5),
      gate: () =>
        faults.chance(0.7)
          ? new Promise((resolve) => {
              let turns = 1 + faults.below(4);
              const turn = (): void => void (turns-- > 0 ? setImmediate(turn) : resolve());
              turn();
            })
          : undefined,
      append: () =>
        faults.chance(0.004)
          ? faults.pick(['uncertain-there', 'uncertain-lost', 'failed-there', 'failed-lost'] as const)
          : 'none',
    };
    let storage = new MemoryStorage(plan);
    const clock = new SimClock();
    const attempts: Attempt[] = [];
    const watch = new ResumingWatch(prng);
    const compactions = new Set<number>();
    for (let life = 1; life <= 8; life += 1) {
      let dead = false;
      const backend = await openBackend({
        storage,
        epoch: epoch(life),
        clock,
        random: prng,
        logger: quiet,
        memberId: 1n,
        checkpointEveryBytes: 2000 + prng.below(20_000),
        cacheBytesMax: prng.below(2) * 10_000,
        onFatal: () => {
          dead = true;
        },
      });
      await checkRecovered(backend, attempts);
      watch.connect(backend);
      const waits: Promise<unknown>[] = [];
      const burst = 100 + prng.below(400);
      for (let at = 0; at < burst && !dead; at += 1) {
        const attempt: Attempt = {
          key: `k${prng.below(30)}`,
          value: `${life}/${at}`,
          revision: undefined,
          refused: false,
        };
        if (prng.chance(0.1)) {
          waits.push(backend.txn(remove(attempt.key), nodeItself).catch(ignoreRefusal));
        } else {
          attempts.push(attempt);
          waits.push(
            backend.txn(put(attempt.key, attempt.value), nodeItself).then(
              (result) => {
                attempt.revision = result.revision;
                expect(backend.revision).toBeGreaterThanOrEqual(result.revision);
              },
              (error: unknown) => {
                ignoreRefusal(error);
                attempt.refused = true;
              },
            ),
          );
        }
        if (prng.chance(0.02)) {
          const wanted = backend.revision - prng.below(30);
          compactions.add(wanted);
          waits.push(backend.compact(wanted, prng.chance(0.3), nodeItself).catch(ignoreRefusal));
        }
        if (prng.chance(0.2)) await new Promise<void>((resolve) => setImmediate(resolve));
        if (prng.chance(0.01)) clock.advance(100);
      }
      if (prng.chance(0.3) && !dead) {
        await Promise.all(waits);
        await backend[Symbol.asyncDispose]();
      } else {
        storage.crash(prng.chance(0.5));
        // What the dead process still does must not reach the disk that the next one opens.
        clock.advance(10_000);
        await clock.settle(10);
        clock.advance(10_000);
        await Promise.all(waits);
      }
      storage = storage.reopen(plan);
    }
    const backend = await openBackend({
      storage,
      epoch: epoch(99),
      clock,
      random: prng,
      logger: quiet,
      memberId: 1n,
      onFatal: () => undefined,
    });
    await checkRecovered(backend, attempts);
    do {
      watch.cancelled = false;
      watch.connect(backend);
      await clock.settle(200);
    } while (watch.cancelled);
    checkWatch(watch, attempts, backend.revision, compactions);
    await backend[Symbol.asyncDispose]();
  });
}

/** Only what etcd's clients know as "it may or may not have happened". */
function ignoreRefusal(error: unknown): void {
  if (error instanceof EngramError) return;
  if (error instanceof Error && /closed|crashed/.test(error.message)) return;
  throw error;
}

/** The last acknowledged value of each key is there, unless a later write, acknowledged or not, took its place. */
async function checkRecovered(backend: Backend, attempts: readonly Attempt[]): Promise<void> {
  const byValue = new Map(attempts.map((attempt) => [`${attempt.key}=${attempt.value}`, attempt]));
  const result = await backend.range(
    {
      kind: 'range',
      range: ALL,
      limit: 0,
      revision: 0,
      sortOrder: 0,
      sortTarget: 0,
      serializable: false,
      keysOnly: false,
      countOnly: false,
      minModRevision: 0,
      maxModRevision: 0,
      minCreateRevision: 0,
      maxCreateRevision: 0,
    },
    nodeItself,
  );
  for (const bytes of result.kvs) {
    const kv = decodeKeyValue(bytes);
    const attempt = byValue.get(`${keyText(kv.key)}=${keyText(kv.value)}`);
    expect(attempt, 'a value that nobody wrote').toBeDefined();
    if (attempt!.revision !== undefined) expect(attempt!.revision).toBe(kv.modRevision);
  }
  for (const attempt of attempts) {
    if (attempt.revision !== undefined)
      expect(backend.revision, 'an acknowledged revision is gone').toBeGreaterThanOrEqual(attempt.revision);
  }
}

function checkWatch(
  watch: ResumingWatch,
  attempts: readonly Attempt[],
  last: number,
  compactions: ReadonlySet<number>,
): void {
  const acknowledged = attempts.filter(
    (attempt) => attempt.revision !== undefined && !watch.gaps.has(attempt.revision),
  );
  const seen = new Map(watch.seen.filter((event) => !event.deleted).map((event) => [event.revision, event]));
  for (const attempt of acknowledged) {
    expect(seen.get(attempt.revision!), `revision ${attempt.revision} was acknowledged and not seen`).toMatchObject({
      key: attempt.key,
      value: attempt.value,
    });
  }
  // Every revision has an event, in order, once: nothing was skipped and nothing came twice.
  const expected = Array.from({ length: last - 1 }, (_, at) => at + 2).filter((at) => !watch.gaps.has(at));
  expect(watch.seen.map((event) => event.revision)).toEqual(expected);
  // What came before an event on its key is what the watcher saw of that key last.
  const values = new Map<string, string | undefined>();
  for (const event of watch.seen) {
    // At a compacted revision itself the version before may be gone.
    if (values.has(event.key) && watch.gaps.size === 0 && !compactions.has(event.revision))
      expect(event.prev, `prev_kv at ${event.revision}`).toBe(values.get(event.key));
    values.set(event.key, event.deleted ? undefined : event.value);
  }
}
