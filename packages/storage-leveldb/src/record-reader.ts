import type { LogPosition } from '@engram/core';
import type { Database } from './database.ts';
import { readRecordEntry, recordKey } from './record-entry.ts';

/** About a millisecond of LevelDB's time, and not so many answers at once that the event loop notices. */
const GROUP_MAX = 256;
/** Of the process's threads for such work (four, unless it was told otherwise); the others are left to appends. */
const ACTIVE_MAX = 2;

interface Request {
  readonly positions: readonly LogPosition[];
  readonly records: Uint8Array[];
  readonly signal: AbortSignal;
  /** How many positions have been taken into a group. */
  taken: number;
  done: number;
  ended: boolean;
  readonly resolve: (records: readonly Uint8Array[]) => void;
  readonly reject: (reason: unknown) => void;
}

interface Part {
  readonly request: Request;
  /** Of the request's positions. */
  readonly from: number;
  readonly to: number;
}

/**
 * Reads records by position, in groups: a call of LevelDB costs ten times what it takes to read one record, so what is
 * asked for while calls are under way goes together into the next. Large requests take turns with each other and with
 * small ones. A request is abandoned at its next group when its signal aborts.
 */
export class RecordReader {
  readonly #database: Database;
  /** Those of which not all has been taken, from `#head` on. Whoever is not done after its turn goes to the end. */
  #waiting: Request[] = [];
  #head = 0;
  #active = 0;

  constructor(database: Database) {
    this.#database = database;
  }

  read(positions: readonly LogPosition[], signal: AbortSignal): Promise<readonly Uint8Array[]> {
    if (positions.length === 0) return Promise.resolve([]);
    return new Promise((resolve, reject) => {
      const records = new Array<Uint8Array>(positions.length);
      this.#waiting.push({ positions, records, signal, taken: 0, done: 0, ended: false, resolve, reject });
      this.#start();
    });
  }

  #start(): void {
    while (this.#active < ACTIVE_MAX) {
      const group = this.#takeGroup();
      if (group.length === 0) return;
      this.#active += 1;
      void this.#readGroup(group).finally(() => {
        this.#active -= 1;
        this.#start();
      });
    }
  }

  #takeGroup(): Part[] {
    const group: Part[] = [];
    let room = GROUP_MAX;
    while (room > 0 && this.#head < this.#waiting.length) {
      const request = this.#waiting[this.#head]!;
      this.#head += 1;
      if (request.signal.aborted) end(request, request.signal.reason);
      if (request.ended) continue;
      const to = Math.min(request.positions.length, request.taken + room);
      group.push({ request, from: request.taken, to });
      room -= to - request.taken;
      request.taken = to;
      if (to < request.positions.length) this.#waiting.push(request);
    }
    // The part that has been taken goes when it is the larger one, so each entry is moved once at most, on average.
    if (this.#head * 2 > this.#waiting.length) {
      this.#waiting = this.#waiting.slice(this.#head);
      this.#head = 0;
    }
    return group;
  }

  async #readGroup(group: readonly Part[]): Promise<void> {
    const keys: Uint8Array[] = [];
    for (const { request, from, to } of group) {
      for (let index = from; index < to; index += 1) keys.push(recordKey(request.positions[index]!));
    }
    let entries: (Uint8Array | undefined)[];
    try {
      entries = await this.#database.reading(() => this.#database.level.getMany(keys));
    } catch (error) {
      for (const { request } of group) end(request, error);
      return;
    }
    let at = 0;
    for (const part of group) {
      this.#deliver(part, entries, at);
      at += part.to - part.from;
    }
  }

  #deliver({ request, from, to }: Part, entries: readonly (Uint8Array | undefined)[], at: number): void {
    for (let index = from; index < to; index += 1) {
      const bytes = entries[at + index - from];
      const position = request.positions[index]!;
      const entry = bytes === undefined ? undefined : readRecordEntry(bytes, position);
      if (entry === undefined) {
        end(request, this.#database.corrupt(`record ${position} is ${bytes === undefined ? 'missing' : 'damaged'}`));
        return;
      }
      request.records[index] = entry.record;
    }
    request.done += to - from;
    if (request.done < request.positions.length || request.ended) return;
    request.ended = true;
    request.resolve(request.records);
  }
}

function end(request: Request, reason: unknown): void {
  if (request.ended) return;
  request.ended = true;
  request.reject(reason);
}
