import { type LogPosition, logPosition, type Seal } from '@engram/core';
import { expect } from 'vitest';
import type { AppendOutcome, LogBatch, Storage } from '../index.ts';
import { never, recordBytes, sealOf } from './storage-steps.ts';

/** The place of a storage. Each test has its own. Disposal removes everything, also storages that are still open. */
export interface StorageBed extends AsyncDisposable {
  /**
   * The first call opens a new storage. Later calls open what the previous storage left, which must have been disposed.
   */
  open(): Promise<Storage>;
}

export const first: Seal = sealOf(1);

/** A storage that epoch 1 has sealed. */
export async function openSealed(bed: StorageBed): Promise<Storage> {
  const storage = await bed.open();
  await storage.log.seal(first);
  return storage;
}

/** Closes the storage and opens what it left. */
export async function reopen(bed: StorageBed, storage: Storage): Promise<Storage> {
  await storage[Symbol.asyncDispose]();
  return await bed.open();
}

/** Appends the batches one after another from the position on, and returns them. */
export async function appendAll(
  storage: Storage,
  batches: readonly (readonly Uint8Array[])[],
  from: LogPosition = logPosition(1),
): Promise<LogBatch[]> {
  const appended: LogBatch[] = [];
  let position = from;
  for (const records of batches) {
    const batch: LogBatch = { first: position, records };
    const outcome: AppendOutcome = await storage.log.append(batch, first);
    expect(outcome).toEqual({ kind: 'committed' });
    appended.push(batch);
    position = logPosition(position + records.length);
  }
  return appended;
}

export async function readAll(storage: Storage, from: LogPosition = logPosition(1)): Promise<LogBatch[]> {
  const batches: LogBatch[] = [];
  for await (const batch of storage.log.read(from, never)) batches.push(plain(batch));
  return batches;
}

/** Adapters may return Buffers, which `toEqual` does not treat as equal to plain arrays. */
export function plain(batch: LogBatch): LogBatch {
  return { first: batch.first, records: batch.records.map(plainBytes) };
}

export function plainBytes(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** A record that is short unless a test gives a length. */
export function record(number: number, length = 24): Uint8Array {
  return recordBytes(number, length);
}

export function records(count: number, from = 1, length = 24): Uint8Array[] {
  return Array.from({ length: count }, (_, index) => record(from + index, length));
}

export async function loadChunks(storage: Storage): Promise<Uint8Array[] | undefined> {
  const checkpoint = await storage.values.loadCheckpoint();
  if (checkpoint === undefined) return undefined;
  const chunks: Uint8Array[] = [];
  for await (const chunk of checkpoint.chunks(never)) chunks.push(plainBytes(chunk));
  return chunks;
}
