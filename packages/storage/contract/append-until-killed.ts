import { writeSync } from 'node:fs';
import { logPosition } from '@engram/core';
import type { Storage } from '../index.ts';
import { never, record, sealOf, stream } from './storage-steps.ts';

const sealing = sealOf(1);

/** The number of records in the batch that begins at `end`. */
export const batchLength = (end: number, batchMax: number): number => 1 + ((end * 7919) % batchMax);

/**
 * Appends until the process is killed or an append fails. Prints the acknowledged progress on stdout: `append <end>`,
 * `checkpoint <from>`, and `failed <JSON>` if an append fails.
 */
export async function appendUntilKilled(storage: Storage, batchMax: number): Promise<void> {
  let end: number = await storage.log.seal(sealing);
  for (let round = 1; ; round += 1) {
    const records = Array.from({ length: batchLength(end, batchMax) }, (_, index) => record(end + index));
    const outcome = await storage.log.append({ first: logPosition(end), records }, sealing);
    if (outcome.kind !== 'committed') {
      const what = outcome.kind === 'uncertain' ? 'failed' : outcome.kind;
      say(`${what} ${JSON.stringify(await afterFailure(storage, end))}`);
      break;
    }
    end += records.length;
    say(`append ${end}`);
    if (round % 20 !== 0) continue;
    await storage.values.saveCheckpoint(logPosition(end), stream([record(end, 3000), record(end + 1, 100)]));
    say(`checkpoint ${end}`);
    const odd = [];
    for (let position = 1; position < end; position += 2) odd.push(logPosition(position));
    await storage.values.drop(odd);
  }
  await storage[Symbol.asyncDispose]();
}

/** Synchronous, so that a written line is seen however the process ends. */
function say(line: string): void {
  writeSync(1, `${line}\n`);
}

async function nameOf(work: () => Promise<unknown>): Promise<string> {
  try {
    await work();
    return 'none';
  } catch (error) {
    return error instanceof Error ? error.name : String(error);
  }
}

async function afterFailure(storage: Storage, end: number): Promise<object> {
  const next = { first: logPosition(end), records: [record(end)] };
  return {
    append: await nameOf(() => storage.log.append(next, sealing)),
    seal: await nameOf(() => storage.log.seal(sealing)),
    read: await nameOf(async () => {
      await storage.log.read(logPosition(1), never)[Symbol.asyncIterator]().next();
    }),
    checkpoint: await nameOf(() => storage.values.saveCheckpoint(logPosition(end), stream([]))),
    get: await nameOf(() => storage.values.getMany([logPosition(1)], never)),
  };
}
