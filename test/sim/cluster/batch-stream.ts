import type { LogPosition } from '@engram/core';
import { PeerError, type PeerService } from '@engram/member';
import type { SimNetwork, SimProcess } from '@engram/sim';
import type { LogBatch } from '@engram/storage';

export interface BatchStreamOptions {
  readonly network: SimNetwork;
  /** The process that follows. */
  readonly reader: SimProcess;
  /** The process that the reader follows. */
  readonly writer: SimProcess;
  readonly serviceOf: (process: SimProcess) => PeerService | undefined;
}

/**
 * One item of the writer. Items are read in the order of sending, because a byte stream loses nothing in the middle.
 */
type Item =
  | { readonly kind: 'batch'; readonly batch: LogBatch }
  | { readonly kind: 'end' }
  | { readonly kind: 'error'; readonly error: PeerError };

/** Bound of unread batches. The writer waits when it is reached. */
const WINDOW = 4;

/**
 * One stream of committed batches over a simulated connection. It is in order and flow controlled, and breaks with the
 * connection.
 */
export class BatchStream {
  readonly #options: BatchStreamOptions;
  readonly #gone = new AbortController();
  readonly #arrived = new Map<number, Item>();
  #nextSent = 0;
  #nextRead = 0;
  #acknowledged = 0;
  #wakeWriter: (() => void) | undefined;
  #wakeReader: (() => void) | undefined;
  #broken = false;

  constructor(options: BatchStreamOptions) {
    this.#options = options;
  }

  /** Throws PeerError if the connection breaks or the writer refuses. Ends with the signal. */
  async *read(from: LogPosition, signal: AbortSignal): AsyncGenerator<LogBatch> {
    this.#begin(from);
    for (;;) {
      if (signal.aborted) return;
      if (this.#broken) throw new PeerError('lost', 'the connection has ended');
      const item = this.#arrived.get(this.#nextRead);
      if (item === undefined) {
        await new Promise<void>((resolve) => {
          this.#wakeReader = resolve;
        });
        continue;
      }
      this.#arrived.delete(this.#nextRead);
      this.#nextRead += 1;
      if (item.kind === 'end') return;
      if (item.kind === 'error') throw item.error;
      this.#acknowledge(this.#nextRead);
      yield item.batch;
    }
  }

  /** Ends the stream for a reader that has stopped. */
  cancel(): void {
    const { network, reader, writer } = this.#options;
    this.#wakeReader?.();
    network.sendSurely(reader, writer.host, (receiver) => {
      if (receiver === writer) this.#stopWriter();
    });
  }

  /** Ends the stream for the reader, because its connection has ended. */
  broken(): void {
    this.#broken = true;
    this.#wakeReader?.();
  }

  #begin(from: LogPosition): void {
    const { network, reader, writer, serviceOf } = this.#options;
    reader.atEnd(() => writer.after(1, () => this.#stopWriter()));
    network.sendSurely(reader, writer.host, (receiver) => {
      const service = receiver === writer ? serviceOf(writer) : undefined;
      if (service !== undefined) void this.#write(service.follow(from, this.#gone.signal));
    });
  }

  async #write(batches: AsyncIterable<LogBatch>): Promise<void> {
    try {
      for await (const { first, records, chain } of batches) {
        if (this.#gone.signal.aborted) return;
        const sent = { first, records: records.map((record) => record.slice()), chain: chain?.slice() };
        this.#send({ kind: 'batch', batch: sent });
        while (this.#nextSent - this.#acknowledged >= WINDOW && !this.#gone.signal.aborted) {
          await new Promise<void>((resolve) => {
            this.#wakeWriter = resolve;
          });
        }
      }
      this.#send({ kind: 'end' });
    } catch (error) {
      const behind = error instanceof PeerError && error.fault === 'behind';
      this.#send({ kind: 'error', error: new PeerError(behind ? 'behind' : 'lost', String(error)) });
    }
  }

  #send(item: Item): void {
    const { network, reader, writer } = this.#options;
    const at = this.#nextSent;
    this.#nextSent += 1;
    const arrive = (receiver: unknown): void => {
      if (receiver !== reader) return;
      this.#arrived.set(at, item);
      this.#wakeReader?.();
    };
    network.sendSurely(writer, reader.host, arrive, () => reader.after(0, () => this.broken()));
  }

  #acknowledge(read: number): void {
    const { network, reader, writer } = this.#options;
    network.sendSurely(reader, writer.host, (receiver) => {
      if (receiver !== writer) return;
      this.#acknowledged = Math.max(this.#acknowledged, read);
      this.#wakeWriter?.();
    });
  }

  #stopWriter(): void {
    this.#gone.abort();
    this.#wakeWriter?.();
  }
}
