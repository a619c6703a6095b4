import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { nodeItself, openBackend } from '@engram/backend';
import { decodeKeyValue } from '@engram/coder';
import { epoch, keyBytes, keyText, type Logger, putOp, rangeOp } from '@engram/core';
import { realClock, realRandom } from '@engram/sim';
import { decodeMarks, type Storage } from '@engram/storage';
import { openLevelDbStorage } from '@engram/storage-leveldb';
import { openSegmentStorage } from '@engram/storage-segment';
import type { History, SeenKey } from './history.ts';

export type Engine = 'segment' | 'leveldb';

const FOLDERS: Readonly<Record<Engine, string>> = { segment: 'engram/segments', leveldb: 'engram/db' };
const MARKS: Readonly<Record<Engine, string>> = { segment: 'ACKNOWLEDGED', leveldb: 'acknowledged' };
/** A mark on the disk is at most this old: the time until it is written and synced, on a machine that is busy. */
const MARK_AGE_MS = 4000;
const PROBE = '/probe';
let epochs = 1000;

/** What is wrong with the state in this data directory, which lost its power at this moment; undefined if nothing is. */
export async function judgeState(
  dataDir: string,
  engine: Engine,
  history: History,
  atMs: number,
): Promise<string | undefined> {
  const path = join(dataDir, FOLDERS[engine]);
  const logger = new KeptWarnings();
  try {
    const wrong = judgeMark(join(path, MARKS[engine]), history.acknowledgedFor(MARK_AGE_MS, atMs));
    if (wrong !== undefined) return wrong;
    const probe = await inspect(await openStorage(path, engine, logger), history, atMs, undefined);
    if (typeof probe === 'string') return probe;
    // What the first start has mended is still there after it, and so is what it has written.
    const again = await inspect(await openStorage(path, engine, logger), history, atMs, probe);
    if (typeof again === 'string') return `after another start: ${again}`;
  } catch (error) {
    return `it does not open: ${error instanceof Error ? error.message : String(error)}`;
  }
  if (history.acknowledgedAt(atMs) > 0 && logger.warnings.some((text) => text.includes('the mark')))
    return 'its mark is damaged';
  return undefined;
}

/** The mark must not say less than what was acknowledged a while ago. Every revision has a position, from 1 on. */
function judgeMark(path: string, revision: number): string | undefined {
  if (revision === 0) return undefined;
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(path);
  } catch {
    return `there is no mark, and revision ${revision} was acknowledged`;
  }
  const mark = decodeMarks(path.slice(path.lastIndexOf('/') + 1), bytes);
  if (mark === undefined || mark === 'damaged') return 'its marks are damaged';
  return mark.end < revision ? `its mark says ${mark.end}, and revision ${revision} was acknowledged` : undefined;
}

function openStorage(path: string, engine: Engine, logger: Logger): Promise<Storage> {
  const parts = { path, clock: realClock, logger };
  if (engine === 'leveldb') return openLevelDbStorage({ ...parts, cacheBytes: 1 << 20 });
  return openSegmentStorage({ ...parts, random: realRandom });
}

/** What is wrong, or the probe that it has put. */
async function inspect(
  storage: Storage,
  history: History,
  atMs: number,
  before: SeenKey | undefined,
): Promise<string | SeenKey> {
  const fatal: Error[] = [];
  epochs += 1;
  const opening = openBackend({
    storage,
    epoch: epoch(epochs),
    clock: realClock,
    random: realRandom,
    logger: new KeptWarnings(),
    memberId: 1n,
    onFatal: (error) => fatal.push(error),
  });
  const backend = await opening.catch(async (error: unknown) => {
    await storage[Symbol.asyncDispose]();
    throw error;
  });
  try {
    const range = { key: Uint8Array.of(0), end: Uint8Array.of(0) };
    const { kvs, revision } = await backend.range(rangeOp(range, {}), nodeItself);
    const seen = new Map<string, SeenKey>();
    for (const bytes of kvs) {
      const { key, value, modRevision } = decodeKeyValue(bytes);
      seen.set(keyText(key), { value: keyText(value), revision: modRevision });
    }
    const probe = seen.get(PROBE);
    seen.delete(PROBE);
    if (probe?.revision !== before?.revision || probe?.value !== before?.value)
      return 'the probe of the last start is another';
    const wrong = history.judge(atMs, revision, seen);
    if (wrong !== undefined) return wrong;
    const put = putOp(keyBytes(PROBE), keyBytes(`at ${revision}`), {});
    const answer = await backend.txn({ compares: [], success: [put], failure: [] }, nodeItself);
    if (fatal.length > 0) return `it ends: ${fatal[0]!.message}`;
    return { value: `at ${revision}`, revision: answer.revision };
  } finally {
    await backend[Symbol.asyncDispose]();
  }
}

class KeptWarnings implements Logger {
  readonly warnings: string[] = [];

  debug(): void {}

  info(): void {}

  warn(_fields: object, message: string): void {
    this.warnings.push(message);
  }

  error(_fields: object, message: string): void {
    this.warnings.push(message);
  }
}
