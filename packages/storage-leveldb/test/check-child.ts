// Opens the directories that it is told and says what reading everything gave. A process of its own, because LevelDB
// ends the process on some damage.
import { StorageCorruptError } from '@engram/storage';
import { openLevelDbStorage } from '@engram/storage-leveldb';
import { type Expected, outcomeOf, record } from '@engram/storage/testing';
import { clock, TestLogger } from './level-bed.ts';

/** `Expected` as it travels between processes: the chunks by their seeds and lengths. */
export interface CheckRequest {
  readonly path: string;
  readonly end: number;
  readonly from: number;
  readonly chunks: readonly (readonly [seed: number, length: number])[];
  readonly dropped: readonly number[];
}

export interface CheckAnswer {
  readonly result: string;
  readonly warnings: readonly string[];
}

async function check(request: CheckRequest, logger: TestLogger): Promise<string> {
  const expected: Expected = {
    end: request.end,
    from: request.from,
    chunks: request.chunks.map(([seed, length]) => record(seed, length)),
    dropped: new Set(request.dropped),
  };
  try {
    await using storage = await openLevelDbStorage({ path: request.path, cacheBytes: 8 << 20, clock, logger });
    return await outcomeOf(storage, expected);
  } catch (error) {
    if (error instanceof StorageCorruptError) return `refused at opening: ${error.message}`;
    return `wrong: ${error instanceof Error ? error.stack : String(error)}`;
  }
}

process.on('message', async (request: CheckRequest) => {
  const logger = new TestLogger();
  const result = await check(request, logger);
  process.send?.({ result, warnings: logger.warnings } satisfies CheckAnswer);
});
