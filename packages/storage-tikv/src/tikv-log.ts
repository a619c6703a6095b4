import { assert, type LogPosition, Mutex, type Seal, sameSeal } from '@engram/core';
import {
  type AppendOutcome,
  type Lifetime,
  type Log,
  type LogBatch,
  StorageCorruptError,
  StorageTrimmedError,
  StorageUnavailableError,
  batchFrom,
  endOf,
} from '@engram/storage';
import { chainBytes } from './format/chain.ts';
import { holdsLog } from './log/holds-log.ts';
import type { BatchLocator } from './log/batch-locator.ts';
import { ChainMismatch, readBatches } from './log/log-reader.ts';
import { corrupt, type LogSource } from './log/log-source.ts';
import { lookAtTail } from './log/log-tail.ts';
import type { HeldLog, LogWriter } from './log/log-writer.ts';
import type { NodeBytes } from './copy/node-bytes.ts';
import type { SharedRecords } from './image/shared-records.ts';
import { type CallSignals, signalOf, translate } from './tikv-errors.ts';

export interface TikvLogParts {
  readonly source: LogSource;
  readonly index: BatchLocator;
  readonly writer: LogWriter;
  readonly bytes: NodeBytes;
  readonly shared: SharedRecords;
  readonly lifetime: Lifetime;
  readonly closing: AbortSignal;
}

/** The log in TiKV. The part that this node has a copy of is read from the copy. */
export class TikvLog implements Log {
  readonly #parts: TikvLogParts;
  #appending = false;
  /** Appends and seals take turns. */
  readonly #mutex = new Mutex();

  constructor(parts: TikvLogParts) {
    this.#parts = parts;
  }

  get knownEnd(): LogPosition {
    return this.#parts.bytes.newest.next;
  }

  chainAt(position: LogPosition): Uint8Array | undefined {
    const chain = this.#parts.bytes.taken.chainAt(position);
    return chain && chainBytes(chain);
  }

  append(batch: LogBatch, seal: Seal): Promise<AppendOutcome> {
    return this.#parts.lifetime.run(async () => {
      assert(!this.#appending, 'two appends at a time');
      assert(batch.records.length > 0, 'an empty batch');
      this.#appending = true;
      try {
        return await this.#mutex.run(() => this.#append(batch, seal));
      } finally {
        this.#appending = false;
      }
    });
  }

  seal(seal: Seal): Promise<LogPosition> {
    const { lifetime, writer, source, closing } = this.#parts;
    return lifetime.run(() =>
      this.#mutex.run(async () => {
        try {
          const next = await writer.seal(seal);
          if (writer.held !== undefined) await this.#compare(writer.held);
          return next;
        } catch (error) {
          throw translate(error, source.name, { closing });
        }
      }),
    );
  }

  read(from: LogPosition, signal: AbortSignal): AsyncIterable<LogBatch> {
    const { lifetime, writer } = this.#parts;
    lifetime.check();
    assert(from >= 1, 'the log begins at position 1');
    return this.#read(from, writer.held, signal);
  }

  /** What this node has taken must be the log that it takes over, or the beginning of it. */
  async #compare(end: HeldLog): Promise<void> {
    const { bytes, source } = this.#parts;
    bytes.saw(end);
    const { taken } = bytes;
    if (taken.next !== undefined && taken.next > end.next) {
      throw await bytes.diverged(`${source.name} ends at ${end.next}, and this node has taken it up to ${taken.next}`);
    }
    const chain = taken.chainAt(end.next);
    if (chain === undefined || chain === end.chain) return;
    throw await bytes.diverged(`${source.name} has other records before ${end.next} than this node`);
  }

  /** False also if this opened storage has not sealed the log with `seal`, or was refused since. */
  heldBy(seal: Seal, signal: AbortSignal): Promise<boolean> {
    const { lifetime, writer, source, closing } = this.#parts;
    return lifetime.run(async () => {
      signal.throwIfAborted();
      const { held } = writer;
      if (held === undefined || !sameSeal(held.seal, seal)) return false;
      try {
        return await holdsLog(source, { segment: held.segment, seal, opener: writer.opener }, signal);
      } catch (error) {
        throw translate(error, source.name, { signal, closing });
      }
    });
  }

  async #append(batch: LogBatch, seal: Seal): Promise<AppendOutcome> {
    const { writer, bytes, source, closing } = this.#parts;
    try {
      const outcome = await writer.append(batch, seal);
      if (outcome.kind !== 'committed') return outcome;
      // Not waited for: the next append must not wait for this node's disk.
      void bytes.keep(outcome.batch, outcome.batch.header);
      return { kind: 'committed' };
    } catch (error) {
      // The batch is in the log. But this node had other records before it.
      if (error instanceof ChainMismatch) throw await bytes.diverged(error.message, error);
      const cause = translate(error, source.name, { closing });
      if (cause instanceof StorageUnavailableError) return { kind: 'uncertain', cause };
      throw cause;
    }
  }

  /** `held`: the end of the log as this node knew it at the call; undefined if it did not hold the log. */
  async *#read(from: LogPosition, held: HeldLog | undefined, signal: AbortSignal): AsyncGenerator<LogBatch> {
    const { source, lifetime, closing } = this.#parts;
    const ends = { signal, closing };
    signal.throwIfAborted();
    let position = from;
    try {
      for await (const batch of this.#batches(from, held, signalOf(ends))) {
        signal.throwIfAborted();
        lifetime.check();
        position = endOf(batch);
        yield batch;
        signal.throwIfAborted();
        lifetime.check();
      }
    } catch (error) {
      if (error instanceof StorageCorruptError) throw await this.#trimmedOr(error, position, ends);
      if (error instanceof ChainMismatch) throw await this.#parts.bytes.diverged(error.message, error);
      throw translate(error, source.name, ends);
    }
  }

  /** Returns StorageTrimmedError instead of `error` if a trim has deleted the log at `position`. */
  async #trimmedOr(error: StorageCorruptError, position: LogPosition, ends: CallSignals): Promise<unknown> {
    const { shared, source, bytes } = this.#parts;
    try {
      const trimmed = await shared.trimmedBefore(signalOf(ends));
      if (position >= trimmed) return error;
      const text = `${source.name} was trimmed up to ${trimmed}, and ${position} is asked for: a start begins with the image`;
      // Without `error` as its cause: records that a trim has deleted are no damage.
      const cause = new StorageTrimmedError(text);
      // The copy ends before the log begins, or is damaged before that, and TiKV no longer has the missing records.
      await bytes.copy?.discard(cause);
      return cause;
    } catch (other) {
      return translate(other, source.name, ends);
    }
  }

  /** Yields what the node's copy has, then the rest from TiKV. TiKV gives the end: another node may hold the log by now. */
  async *#batches(from: LogPosition, held: HeldLog | undefined, signal: AbortSignal): AsyncGenerator<LogBatch> {
    const { source, index, bytes } = this.#parts;
    const { tail } = await lookAtTail(source, signal);
    const end = held !== undefined && tail.segment === held.segment ? held.next : tail.next;
    if (from > end) throw corrupt(source, `the log ends before ${end}, and ${from} is asked for`);
    let position = from;
    for await (const batch of bytes.read(from, signal)) {
      if (batch.first >= end) return;
      position = endOf(batch);
      yield batch;
    }
    const { copy, taken } = bytes;
    const chain = taken.chainAt(position) ?? (copy?.next === position ? copy.chain : undefined);
    if (position === end) {
      const there = tail.next === end ? tail.chain : undefined;
      if (chain !== undefined && there !== undefined && chain !== there) {
        throw new ChainMismatch(`${source.name} has other records before ${end} than this node`);
      }
      taken.begin(end, chain ?? there);
      return;
    }
    if (chain !== undefined) taken.begin(position, chain);
    for await (const batch of readBatches(source, index, { from: position, end, chain }, signal)) {
      await bytes.keep(batch, batch.header);
      if (batch.first < position) yield batchFrom(batch, position);
      else yield { ...batchAsRead(batch), chain: chainBytes(batch.header.chain) };
    }
  }
}

const batchAsRead = ({ first, records, wallMs }: LogBatch): LogBatch => ({ first, records, wallMs });
