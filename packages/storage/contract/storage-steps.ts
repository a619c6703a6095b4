import { epoch, logPosition, type Seal } from '@engram/core';
import { Prng } from '@engram/sim';
import { type Storage, StorageCorruptError } from '../index.ts';

export const never: AbortSignal = new AbortController().signal;

/** The seal of a member with this id in this epoch. */
export function sealOf(number: number, holder = 1n): Seal {
  return { epoch: epoch(number), holder };
}

const first = sealOf(1);

/** Deterministic bytes, different for each number, that hardly compress. */
export function recordBytes(number: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  const prng = new Prng(number);
  for (let at = 0; at < length; at += 1) bytes[at] = prng.below(256);
  return bytes;
}

/** A record. The default lengths vary with the number. */
export function record(number: number, length = number % 5 === 0 ? 1500 + number : 40 + (number % 90)): Uint8Array {
  return recordBytes(number, length);
}

export async function* stream(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

/** The sizes of `count` batches of the same size. */
export function batches(count: number, size: number): number[] {
  return new Array<number>(count).fill(size);
}

/** Appends batches of these sizes. Throws unless each is committed. Returns the position after them. */
export async function appendRecords(
  storage: Storage,
  from: number,
  sizes: readonly number[],
  seal: Seal = first,
): Promise<number> {
  let position = from;
  for (const size of sizes) {
    const records = Array.from({ length: size }, (_, index) => record(position + index));
    const outcome = await storage.log.append({ first: logPosition(position), records }, seal);
    if (outcome.kind !== 'committed') throw new Error(`append at ${position}: ${outcome.kind}`);
    position += size;
  }
  return position;
}

export interface Expected {
  readonly end: number;
  /** The `from` of the checkpoint. */
  readonly from: number;
  readonly chunks: readonly Uint8Array[];
  readonly dropped: ReadonlySet<number>;
}

/** Reads everything. Throws if a result is silently wrong, or if a read fails in an unexpected way. */
export async function outcomeOf(storage: Storage, expected: Expected): Promise<'whole' | 'refused on reading'> {
  const results = [
    await whole(() => checkCheckpoint(storage, expected)),
    await whole(() => checkReplay(storage, expected)),
  ];
  for (let position = 1; position < expected.end; position += 1) {
    if (expected.dropped.has(position)) continue;
    results.push(await whole(() => checkRecord(storage, position)));
  }
  if ((await storage.log.seal(first)) !== expected.end) throw new Error('the log ends elsewhere');
  return results.every(Boolean) ? 'whole' : 'refused on reading';
}

/** False if the check noticed the damage. */
async function whole(check: () => Promise<void>): Promise<boolean> {
  try {
    await check();
    return true;
  } catch (error) {
    if (error instanceof StorageCorruptError) return false;
    throw error;
  }
}

async function checkCheckpoint(storage: Storage, expected: Expected): Promise<void> {
  const checkpoint = await storage.values.loadCheckpoint();
  if (checkpoint?.from !== expected.from) throw new Error(`checkpoint from ${checkpoint?.from}`);
  let index = 0;
  for await (const chunk of checkpoint.chunks(never)) {
    if (Buffer.compare(chunk, expected.chunks[index] ?? new Uint8Array(0)) !== 0) throw new Error(`chunk ${index}`);
    index += 1;
  }
  if (index !== expected.chunks.length) throw new Error(`${index} chunks`);
}

async function checkReplay(storage: Storage, expected: Expected): Promise<void> {
  let position = expected.from;
  for await (const batch of storage.log.read(logPosition(position), never)) {
    if (batch.first !== position) throw new Error(`batch at ${batch.first} where ${position} is due`);
    for (const bytes of batch.records) {
      if (Buffer.compare(bytes, record(position)) !== 0) throw new Error(`record ${position} in replay`);
      position += 1;
    }
  }
  if (position !== expected.end) throw new Error(`replay ended before ${position}`);
}

async function checkRecord(storage: Storage, position: number): Promise<void> {
  const [bytes] = await storage.values.getMany([logPosition(position)], never);
  if (bytes === undefined || Buffer.compare(bytes, record(position)) !== 0) throw new Error(`record ${position}`);
}
