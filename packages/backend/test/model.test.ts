import { nodeItself } from '@engram/backend';
import { EngramError, keyBytes, keyText, leaseId, type Txn } from '@engram/core';
import { Prng } from '@engram/sim';
import type { ModelEvent, ModelKv } from '@engram/sim/model';
import { MemoryStorage } from '@engram/storage';
import { expect, test } from 'vitest';
import { type Node, openNode, plainKv, plainModel, plainResult, type RecordingSink, watchAll } from './harness.ts';
import { LogModel, Refused } from './log-model.ts';
import { randomDeleteRange, randomPutTxn, randomRangeOp, randomTxn } from './random-ops.ts';

const SEED = Number(process.env['SEED'] ?? 20_261_121);
const RUNS = Number(process.env['MODEL_RUNS'] ?? 40);
const OPS = Number(process.env['MODEL_OPS'] ?? 2500);

/** Runs the store and the model, and expects the same answer or the same refusal. */
async function same(what: string, real: () => unknown, model: () => unknown): Promise<void> {
  const outcome = async (run: () => unknown): Promise<unknown> => {
    try {
      return await run();
    } catch (error) {
      if (error instanceof EngramError || error instanceof Refused) return { refused: error.code };
      throw error;
    }
  };
  expect(await outcome(real), what).toEqual(await outcome(model));
}

function plainEvents(sink: RecordingSink): unknown[] {
  return sink.groups.flatMap((group) =>
    group.events.map((event) => ({
      ...plainKv(event.kv),
      deleted: event.type === 1,
      prev: event.prevKv && plainKv(event.prevKv),
    })),
  );
}

function expectedEvents(model: LogModel, events: readonly ModelEvent[], prevFrom: number): unknown[] {
  return events.map((event) => {
    const prev = model.prevOf(event);
    const known = prev !== undefined && event.mod - 1 >= prevFrom ? prev : undefined;
    const plain = (kv: ModelKv) => ({
      key: kv.key,
      mod: kv.mod,
      create: kv.create,
      version: kv.version,
      value: kv.value,
      lease: kv.lease,
    });
    return { ...plain(event), deleted: event.deleted, prev: known && plain(known) };
  });
}

for (let run = 0; run < RUNS; run += 1) {
  const seed = SEED + run;
  test(`the store answers as the model does (SEED=${seed}, ${OPS} operations)`, async () => {
    const prng = new Prng(seed);
    const storage = new MemoryStorage();
    const model = new LogModel(storage.disk);
    let current = storage;
    const settings = {
      checkpointEveryBytes: 4000 + prng.below(20_000),
      cacheBytesMax: prng.below(3) * 4000,
      // In every second run, work in slices gives way after each step.
      ...(run % 2 === 0 ? {} : { sliceSteps: 1 }),
    };
    let node: Node = await openNode(current, settings);
    let epochs = 1;
    let sink = watchAll(node, 1);
    let watchedFrom = 0;
    for (let op = 0; op < OPS; op += 1) {
      const { backend } = node;
      const what = `operation ${op}`;
      const kind = prng.below(100);
      if (kind < 35) {
        const txn = prng.chance(0.7) ? randomPutTxn(prng) : randomDeleteRange(prng);
        await same(
          what,
          async () => plainResult(await backend.txn(txn, nodeItself)),
          () => plainModel(model.txn(txn)),
        );
      } else if (kind < 60) {
        const txn: Txn = randomTxn(prng, model.revision);
        await same(
          what,
          async () => plainResult(await backend.txn(txn, nodeItself)),
          () => plainModel(model.txn(txn)),
        );
      } else if (kind < 85) {
        const range = randomRangeOp(prng, model.revision, false);
        await same(
          what,
          async () => plainResult(await backend.range(range, nodeItself)),
          () => plainModel(model.range(range)),
        );
      } else if (kind < 88) {
        const wanted = model.revision - prng.below(40) + 1;
        const physical = prng.chance(0.2);
        await same(
          what,
          () => backend.compact(wanted, physical, nodeItself),
          () => model.compact(wanted),
        );
      } else if (kind < 92) {
        const id = BigInt(1 + prng.below(6));
        await same(
          what,
          async () => void (await backend.leaseGrant(leaseId(id), 1000, nodeItself)),
          () => model.grant(id),
        );
      } else if (kind < 94) {
        const id = BigInt(1 + prng.below(6));
        await same(
          what,
          async () => void (await backend.leaseRevoke(leaseId(id), nodeItself)),
          () => model.revoke(id),
        );
      } else if (kind < 96) {
        const id = BigInt(1 + prng.below(6));
        const lease = await backend.leaseTimeToLive(leaseId(id), true, nodeItself);
        expect(lease && [...lease.keys].map(keyText), what).toEqual(
          model.hasLease(id) ? model.leaseKeys(id) : undefined,
        );
      } else if (kind < 98) {
        const from = Math.max(1, model.compactRevision) + prng.below(5);
        if (from > model.revision) continue;
        const past = watchAll(node, from);
        const wanted = expectedEvents(model, model.events(from), model.compactRevision);
        // As many turns as the events need, and some more in which nothing may come.
        for (let turn = 0; turn < 100_000 && plainEvents(past).length < wanted.length; turn += 20)
          await node.clock.settle(20);
        await node.clock.settle(60);
        expect(plainEvents(past), `${what}: history from ${from}`).toEqual(wanted);
      } else if (kind < 99 && prng.chance(0.3)) {
        expect(plainEvents(sink), what).toEqual(expectedEvents(model, model.events(watchedFrom + 1), 0));
        if (prng.chance(0.5)) await backend[Symbol.asyncDispose]();
        else current.crash();
        current = current.reopen();
        epochs += 1;
        node = await openNode(current, { ...settings, epoch: epochs });
        expect(node.backend.revision, what).toBe(model.revision);
        expect(node.backend.compactRevision, what).toBe(model.compactRevision);
        sink = watchAll(node, 0);
        watchedFrom = model.revision;
      }
      expect(node.fatal, what).toEqual([]);
      expect(node.backend.revision, what).toBe(model.revision);
    }
    expect(plainEvents(sink)).toEqual(expectedEvents(model, model.events(watchedFrom + 1), 0));
    await node.backend[Symbol.asyncDispose]();
  });
}

test('keys and bytes survive their way through texts', () => {
  const all = Uint8Array.from({ length: 256 }, (_, at) => at);
  expect(keyBytes(keyText(all))).toEqual(all);
});
