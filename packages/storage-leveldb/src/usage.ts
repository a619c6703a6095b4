import { type LogPosition, logPosition } from '@engram/core';
import type { State } from './state-file.ts';

/**
 * How many bytes of the files live records need. The count of appended bytes is exact. For dropped records the caller gives
 * only the sum of their bytes; without it, the average of all records is assumed.
 */
export class Usage {
  #end: LogPosition;
  #records: number;
  #bytes: number;

  /** `end` is the position after the last one counted. */
  constructor(end: LogPosition, records: number, bytes: number) {
    this.#end = end;
    this.#records = records;
    this.#bytes = bytes;
  }

  get records(): number {
    return this.#records;
  }

  get bytes(): number {
    return Math.round(this.#bytes);
  }

  snapshot(): State['usage'] {
    return { upTo: this.#end, records: this.#records, bytes: this.bytes };
  }

  appended(records: number, bytes: number): void {
    this.#end = logPosition(this.#end + records);
    this.#records += records;
    this.#bytes += bytes;
  }

  dropped(records: number, bytes: number | undefined): void {
    if (this.#records === 0) return;
    const gone = Math.min(records, this.#records);
    this.#bytes = Math.max(0, this.#bytes - (bytes ?? (this.#bytes / this.#records) * gone));
    this.#records -= gone;
  }
}
