import type { Logger } from '@engram/core';
import { type Storage, StorageCorruptError } from '../index.ts';
import { outcomeOf, record } from './storage-steps.ts';

/** `Expected` as it is sent between processes: the chunks are given by their seeds and lengths. */
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

export type OpenAt = (path: string, logger: Logger) => Promise<Storage>;

/** Opens the directories that a `Checker` in the parent process names, and reports the result of reading everything. */
export function answerChecks(open: OpenAt): void {
  process.on('message', async (request: CheckRequest) => {
    const warnings: string[] = [];
    const keep = (_fields: object, message: string): void => void warnings.push(message);
    const logger: Logger = { debug: () => {}, info: () => {}, warn: keep, error: keep };
    const result = await check(open, request, logger);
    process.send?.({ result, warnings } satisfies CheckAnswer);
  });
}

async function check(open: OpenAt, request: CheckRequest, logger: Logger): Promise<string> {
  const expected = {
    end: request.end,
    from: request.from,
    chunks: request.chunks.map(([seed, length]) => record(seed, length)),
    dropped: new Set(request.dropped),
  };
  try {
    await using storage = await open(request.path, logger);
    return await outcomeOf(storage, expected);
  } catch (error) {
    if (error instanceof StorageCorruptError) return `refused at opening: ${error.message}`;
    return `wrong: ${error instanceof Error ? error.stack : String(error)}`;
  }
}
