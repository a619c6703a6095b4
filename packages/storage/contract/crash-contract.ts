import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { logPosition } from '@engram/core';
import { expect, test } from 'vitest';
import { batchLength } from './append-until-killed.ts';
import type { DirectoryBed } from './directory-contract.ts';
import { never, record, sealOf } from './storage-steps.ts';

interface Acknowledged {
  readonly end: number;
  readonly checkpoint: number;
  /** All other lines that the child printed. */
  readonly rest: readonly string[];
}

/** A module that calls `appendUntilKilled` on the storage at its first argument with batches up to its second. */
export interface AppendingChild {
  readonly module: URL;
  /** Arguments after these two. */
  readonly more?: readonly string[];
}

/** The contract of an engine whose process is killed. */
export function crashContract(name: string, makeBed: () => Promise<DirectoryBed>, child: AppendingChild): void {
  test(`${name}: a process that is killed leaves whole what it had acknowledged: batches, a checkpoint`, async () => {
    await using bed = await makeBed();
    let end = 1;
    // Each round ends at another point: before, at and after a checkpoint, which follows every 20th append.
    for (const lines of [1, 3, 20, 21, 22, 37, 64, 200]) {
      const acknowledged = await runChild(child, bed, 60, lines);
      expect(acknowledged.rest).toEqual([]);
      expect(acknowledged.end).toBeGreaterThan(end);
      end = await check(bed, acknowledged);
    }
  });
}

/** The contract of an engine whose disk is full. One of its files must grow to 4 MiB. */
export function fullDiskContract(name: string, makeBed: () => Promise<DirectoryBed>, child: AppendingChild): void {
  test(`${name}: on a full disk an append is uncertain, then nothing is written or told before the next start`, async () => {
    await using bed = await makeBed();
    const batchMax = 400;
    // Files may grow to 4 MiB (8192 blocks of 512 bytes); a write beyond fails instead of ending the process.
    const acknowledged = await runChild(child, bed, batchMax, 0, `trap '' XFSZ; ulimit -f 8192;`);
    const [failed, ...others] = acknowledged.rest;
    expect(others).toEqual([]);
    expect(failed).toMatch(/^failed /);
    expect(JSON.parse(failed!.slice('failed '.length))).toEqual({
      append: 'StorageFailedError',
      seal: 'StorageFailedError',
      read: 'StorageFailedError',
      checkpoint: 'StorageFailedError',
      get: 'none',
    });
    const end = await check(bed, acknowledged);
    // The batch is in the log, or it is not.
    expect([acknowledged.end, acknowledged.end + batchLength(acknowledged.end, batchMax)]).toContain(end);
    await runChild(child, bed, batchMax, 3);
  });
}

/** Runs the child until it has printed `linesMax` lines, then kills it without a warning; or until it ends by itself. */
async function runChild(
  { module, more = [] }: AppendingChild,
  { path }: DirectoryBed,
  batchMax: number,
  linesMax: number,
  before = '',
): Promise<Acknowledged> {
  const command = `${before} exec "$0" "$@"`;
  const args = [fileURLToPath(module), path, String(batchMax), ...more];
  const child = spawn('/bin/sh', ['-c', command, process.execPath, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  let [end, checkpoint, lines] = [1, 0, 0];
  const rest: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    const number = Number(line.split(' ')[1]);
    if (line.startsWith('append ')) end = number;
    else if (line.startsWith('checkpoint ')) checkpoint = number;
    else rest.push(line);
    lines += 1;
    // Lines that the child prints until it is dead are read as well.
    if (lines === linesMax) child.kill('SIGKILL');
  }
  return { end, checkpoint, rest };
}

/** Compares the directory with what was acknowledged. Returns where the log ends now. */
async function check(bed: DirectoryBed, acknowledged: Acknowledged): Promise<number> {
  const storage = await bed.open();
  const checkpoint = await storage.values.loadCheckpoint();
  const from = checkpoint?.from ?? 1;
  expect(from).toBeGreaterThanOrEqual(acknowledged.checkpoint);
  if (checkpoint !== undefined) {
    const chunks: Uint8Array[] = [];
    for await (const chunk of checkpoint.chunks(never)) chunks.push(chunk);
    expect(chunks).toEqual([record(from, 3000), record(from + 1, 100)]);
  }
  let position: number = from;
  for await (const batch of storage.log.read(logPosition(from), never)) {
    expect(batch.first).toBe(position);
    for (const bytes of batch.records) {
      if (Buffer.compare(bytes, record(position)) !== 0) throw new Error(`record ${position} is another`);
      position += 1;
    }
  }
  expect(position).toBeGreaterThanOrEqual(acknowledged.end);
  const even = Array.from({ length: Math.floor((position - 1) / 2) }, (_, index) => logPosition(2 + 2 * index));
  const records = await storage.values.getMany(even, never);
  expect(records.findIndex((bytes, index) => Buffer.compare(bytes, record(even[index]!)) !== 0)).toBe(-1);
  expect(await storage.log.seal(sealOf(1))).toBe(position);
  await storage[Symbol.asyncDispose]();
  return position;
}
