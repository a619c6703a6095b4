// Appends until it is killed, or until an append fails, and says on stdout how far it was acknowledged:
// `append <end>`, `checkpoint <from>`, and at the end of its own accord `failed <JSON>`.
import { writeSync } from 'node:fs';
import { logPosition } from '@engram/core';
import type { Storage } from '@engram/storage';
import { openLevelDbStorage } from '@engram/storage-leveldb';
import { never, record, sealOf, stream } from '@engram/storage/testing';
import { realClock } from '@engram/sim';
import { TestLogger } from './level-bed.ts';

const [path, batchMaxText] = process.argv.slice(2);
const sealing = sealOf(1);
const batchMax = Number(batchMaxText);

/** Synchronous: a line that was written is seen, however the process ends. */
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

const storage = await openLevelDbStorage({
  path: path!,
  cacheBytes: 8 << 20,
  clock: realClock,
  logger: new TestLogger(),
});
let end: number = await storage.log.seal(sealing);
for (let round = 1; ; round += 1) {
  const count = 1 + ((end * 7919) % batchMax);
  const records = Array.from({ length: count }, (_, index) => record(end + index));
  const outcome = await storage.log.append({ first: logPosition(end), records }, sealing);
  if (outcome.kind !== 'committed') {
    say(
      `${outcome.kind === 'uncertain' ? 'failed' : outcome.kind} ${JSON.stringify(await afterFailure(storage, end))}`,
    );
    break;
  }
  end += count;
  say(`append ${end}`);
  if (round % 20 !== 0) continue;
  await storage.values.saveCheckpoint(logPosition(end), stream([record(end, 3000), record(end + 1, 100)]));
  say(`checkpoint ${end}`);
  const odd = [];
  for (let position = 1; position < end; position += 2) odd.push(logPosition(position));
  await storage.values.drop(odd);
}
await storage[Symbol.asyncDispose]();
