import { assert, logPosition, type LogPosition, NEW_LOG_SEAL } from '@engram/core';
import type { Log, LogBatch } from '@engram/storage';

/**
 * A batch of the log ends with the entry that makes it larger than one of these. With larger batches more records are there when garbage
 * is collected: 4 MiB cost a fifth more CPU, and 60 MiB of memory.
 */
const BATCH_BYTES = 1 << 20;
const BATCH_RECORDS = 8_192;

/** Appends records to a log that nobody holds yet. While a batch is written, the next one is filled. */
export class LogFiller {
  readonly #log: Pick<Log, 'append'>;
  #records: Uint8Array[] = [];
  #bytes = 0;
  #first = logPosition(1);
  #appended: Promise<void> = Promise.resolve();

  constructor(log: Pick<Log, 'append'>) {
    this.#log = log;
  }

  /** The end of the log, with the records that are not appended yet. */
  get next(): LogPosition {
    return logPosition(this.#first + this.#records.length);
  }

  get full(): boolean {
    return this.#bytes >= BATCH_BYTES || this.#records.length >= BATCH_RECORDS;
  }

  add(record: Uint8Array): void {
    this.#records.push(record);
    this.#bytes += record.length;
  }

  /** Begins to append what was added, when the batch before is there. So at most two batches are held. */
  async append(): Promise<void> {
    await this.#appended;
    if (this.#records.length === 0) return;
    const batch = { first: this.#first, records: this.#records };
    this.#first = this.next;
    this.#records = [];
    this.#bytes = 0;
    this.#appended = this.#write(batch);
    // The next call rejects with it. There is none where the file is refused meanwhile.
    this.#appended.catch(() => {});
  }

  /** Appends what was added. */
  async flush(): Promise<void> {
    await this.append();
    await this.#appended;
  }

  async #write(batch: LogBatch): Promise<void> {
    const outcome = await this.#log.append(batch, NEW_LOG_SEAL);
    if (outcome.kind === 'uncertain') throw new Error('the log took no more records', { cause: outcome.cause });
    assert(outcome.kind === 'committed', `an append to a new log was ${outcome.kind}`);
  }
}
