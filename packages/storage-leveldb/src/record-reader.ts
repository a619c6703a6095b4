import type { LogPosition } from '@engram/core';
import { type RecordRequest, RecordRequests } from '@engram/storage';
import type { Database } from './database.ts';
import { readRecordEntry, recordKey } from './record-entry.ts';

/** A group takes LevelDB about a millisecond. Its answers are few enough not to hold up the event loop. */
const GROUP_MAX = 256;
/** How many of the process's threads for file work (four by default) reads may use. Appends use the others. */
const ACTIVE_MAX = 2;

interface Want {
  readonly request: RecordRequest;
  /** The index in the request's positions. */
  readonly at: number;
}

/**
 * Reads records by position, in groups. A call of LevelDB costs ten times as much as reading a record, so requests that
 * arrive while calls are running are joined in the next call. RecordRequests decides whose positions a group takes.
 */
export class RecordReader {
  readonly #database: Database;
  readonly #requests = new RecordRequests();
  #active = 0;

  constructor(database: Database) {
    this.#database = database;
  }

  read(positions: readonly LogPosition[], signal: AbortSignal): Promise<readonly Uint8Array[]> {
    return this.#requests.add(positions, signal, () => this.#start());
  }

  #start(): void {
    while (this.#active < ACTIVE_MAX) {
      const group: Want[] = [];
      this.#requests.takeGroup(GROUP_MAX, Number.POSITIVE_INFINITY, (request, at) => {
        group.push({ request, at });
        return 0;
      });
      if (group.length === 0) return;
      this.#active += 1;
      void this.#readGroup(group).finally(() => {
        this.#active -= 1;
        this.#start();
      });
    }
  }

  async #readGroup(group: readonly Want[]): Promise<void> {
    const positions = group.map(({ request, at }) => request.positions[at]!);
    let entries: (Uint8Array | undefined)[];
    try {
      entries = await this.#database.reading(() => this.#database.level.getMany(positions.map(recordKey)));
    } catch (error) {
      for (const { request } of group) request.fail(error);
      return;
    }
    for (const [index, { request, at }] of group.entries()) {
      const position = positions[index]!;
      const bytes = entries[index];
      const entry = bytes === undefined ? undefined : readRecordEntry(bytes, position);
      if (entry !== undefined) request.deliver(at, entry.record);
      else request.fail(this.#database.corrupt(`record ${position} is ${bytes === undefined ? 'missing' : 'damaged'}`));
    }
  }
}
