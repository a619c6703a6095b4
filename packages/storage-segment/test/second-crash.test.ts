import { logPosition } from '@engram/core';
import { type CrashKind, Prng } from '@engram/sim';
import { endOf, type LogBatch, sameBatch } from '@engram/storage';
import { never, record, sealOf } from '@engram/storage/testing';
import { expect, test } from 'vitest';
import type { SegmentStorage } from '../src/segment-storage.ts';
import { SimMachine } from './sim-machine.ts';

/*
 * Appends that a crash interrupts, each in the place of the one before if that has not arrived. Their records often have
 * equal lengths, so records of one would fit into the frame of another.
 */

const SEED = Number(process.env['SEED'] ?? Date.now() % 2 ** 31);
const RUNS = Number(process.env['RUNS'] ?? 400);
const LIVES = 5;

function drawBatch(prng: Prng, first: number): LogBatch {
  const records = Array.from({ length: prng.pick([1, 2, 3]) }, () => record(prng.below(4), prng.pick([70, 70, 300])));
  return { first: logPosition(first), records };
}

async function batchesOf(storage: SegmentStorage): Promise<LogBatch[]> {
  const batches: LogBatch[] = [];
  for await (const batch of storage.log.read(logPosition(1), never)) batches.push(batch);
  return batches;
}

const same = (left: readonly LogBatch[], right: readonly LogBatch[]): boolean =>
  left.length === right.length && left.every((batch, at) => sameBatch(batch, right[at]!));

test(`what a start has found, or has cut off, stays so in all starts after it (SEED=${SEED})`, async () => {
  let [arrived, lost] = [0, 0];
  for (let run = 0; run < RUNS; run += 1) {
    const prng = new Prng(SEED + run);
    const machine = new SimMachine(SEED + run, prng.pick([4096, 8192]));
    let known: readonly LogBatch[] = [];
    /** The append that the last crash has interrupted. */
    let pending: LogBatch | undefined;
    for (let life = 0; life < LIVES; life += 1) {
      const ended = machine.live(async (storage) => {
        await storage.log.seal(sealOf(1));
        const found = await batchesOf(storage);
        const whole: readonly LogBatch[] = pending === undefined ? known : [...known, pending];
        if (pending !== undefined && same(found, whole)) {
          known = whole;
          arrived += 1;
        } else {
          expect(same(found, known), `${found.length} batches of ${known.length}`).toBe(true);
          if (pending !== undefined) lost += 1;
        }
        const last = known.at(-1);
        const batch = drawBatch(prng, last === undefined ? 1 : endOf(last));
        pending = batch;
        const kind: CrashKind = prng.pick(['kill', 'power'] as const);
        machine.disk.arm({ kind, steps: prng.below(7) }, undefined);
        const outcome = await storage.log.append(batch, sealOf(1));
        expect(outcome).toEqual({ kind: 'committed' });
        known = [...known, batch];
        pending = undefined;
      });
      await ended.catch((error: unknown) => {
        throw new Error(`SEED=${SEED + run} RUNS=1: life ${life}`, { cause: error });
      });
    }
  }
  if (RUNS < 100) return;
  // Otherwise the runs met no append that was interrupted, and proved nothing.
  expect(arrived).toBeGreaterThan(RUNS / 10);
  expect(lost).toBeGreaterThan(RUNS / 10);
});
