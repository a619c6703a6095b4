import { sealOf } from '@engram/storage/testing';
// Shared by the benchmarks: a storage of either kind in a directory of its own, records, and figures.
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Logger, type LogPosition, logPosition } from '@engram/core';
import { Prng, realClock, realRandom } from '@engram/sim';
import type { Storage } from '@engram/storage';
import { openLevelDbStorage } from '@engram/storage-leveldb';
import { openSegmentStorage } from '@engram/storage-segment';

const smoke = process.env['SMOKE'] !== undefined;
export const never: AbortSignal = new AbortController().signal;
export const sealing = sealOf(1);

export function parameter(name: string, full: number, small: number): number {
  return Number(process.env[name] ?? (smoke ? small : full));
}

const logger: Logger = {
  debug() {},
  info() {},
  warn: (fields, message) => console.error(message, fields),
  error: (fields, message) => console.error(message, fields),
};

export const kinds = (process.env['STORAGE'] ?? 'segment,leveldb').split(',');

export function openStorage(kind: string, path: string): Promise<Storage> {
  if (kind === 'leveldb') return openLevelDbStorage({ path, cacheBytes: 8 << 20, clock: realClock, logger });
  const segmentBytes = Number(process.env['SEGMENT_BYTES'] ?? 64 << 20);
  return openSegmentStorage({
    path,
    clock: realClock,
    random: realRandom,
    logger,
    segmentBytes,
  });
}

/** A directory below DIR, or here. It is removed with the process. */
export function makeDirectory(): string {
  const path = mkdtempSync(join(process.env['DIR'] ?? '.', 'bench-storage-'));
  process.on('exit', () => rmSync(path, { recursive: true, force: true }));
  return path;
}

const prng = new Prng(1);
/** Returns the same sequence in every run. */
export const random = (below: number): number => prng.below(below);

/** Records that share no memory, as writers make them. They come from a pool: making them is not measured. */
export function recordPool(bytes: number): () => Uint8Array {
  const pool = Array.from({ length: 1024 }, () => {
    const record = new Uint8Array(bytes);
    for (let at = 0; at < bytes; at += 1) record[at] = random(256);
    return record;
  });
  let at = 0;
  return () => {
    at = (at + 1) % pool.length;
    return pool[at]!;
  };
}

/** Appends `count` records. Returns the position after them. */
export async function fill(storage: Storage, from: number, count: number, bytes: number): Promise<number> {
  const next = recordPool(bytes);
  const end = from + count;
  for (let position = from; position < end; ) {
    const records = Array.from({ length: Math.min(500, end - position) }, next);
    await append(storage, position, records);
    position += records.length;
  }
  return end;
}

export async function append(storage: Storage, position: number, records: readonly Uint8Array[]): Promise<void> {
  const outcome = await storage.log.append({ first: logPosition(position), records }, sealing);
  if (outcome.kind !== 'committed') throw new Error(`append: ${outcome.kind}`);
}

export const at: (value: number) => LogPosition = logPosition;

/** Sorts its argument. */
export function percentile(values: number[], share: number): number {
  values.sort((left, right) => left - right);
  return values[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0;
}

/** CPU of the whole process since the call, in microseconds. */
export function cpuMeter(): () => number {
  const start = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(start);
    return user + system;
  };
}
