import type { LogPosition } from '@engram/core';
import type { Checkpoint, Lifetime, LogBatch, StorageDivergedError, StorageSize, Values } from '@engram/storage';
import type { LocalValues } from './copy/local-values.ts';
import type { NodeBytes } from './copy/node-bytes.ts';
import { signalOf, translate } from './tikv-errors.ts';

export interface TikvValuesParts {
  readonly bytes: NodeBytes;
  readonly local: LocalValues;
  /** Names the log in errors. */
  readonly name: string;
  readonly lifetime: Lifetime;
  readonly closing: AbortSignal;
}

/** Reads the log's records wherever this node finds them. All else concerns only this node. */
export class TikvValues implements Values {
  readonly #parts: TikvValuesParts;

  constructor(parts: TikvValuesParts) {
    this.#parts = parts;
  }

  getMany(positions: readonly LogPosition[], signal: AbortSignal): Promise<readonly Uint8Array[]> {
    const { lifetime, bytes, closing, name } = this.#parts;
    return lifetime.run(async () => {
      signal.throwIfAborted();
      const ends = { signal, closing };
      try {
        return await bytes.getMany(positions, signalOf(ends));
      } catch (error) {
        throw translate(error, name, ends);
      }
    });
  }

  peek(position: LogPosition, inline?: boolean): Uint8Array | undefined {
    const { lifetime, bytes } = this.#parts;
    return lifetime.ended ? undefined : bytes.peek(position, inline);
  }

  adopt(batch: LogBatch): Promise<void> {
    const { lifetime, bytes } = this.#parts;
    return lifetime.run(() => bytes.adopt(batch));
  }

  giveUp(why: string): Promise<StorageDivergedError> {
    const { lifetime, bytes } = this.#parts;
    return lifetime.run(() => bytes.diverged(why));
  }

  drop(positions: readonly LogPosition[], bytes?: number): Promise<void> {
    const { lifetime, local } = this.#parts;
    return lifetime.run(() => local.drop(positions, bytes));
  }

  saveCheckpoint(from: LogPosition, chunks: AsyncIterable<Uint8Array>): Promise<void> {
    const { lifetime, local } = this.#parts;
    return lifetime.run(() => local.saveCheckpoint(from, chunks));
  }

  loadCheckpoint(): Promise<Checkpoint | undefined> {
    const { lifetime, local, closing, name } = this.#parts;
    return lifetime.run(async () => {
      try {
        const checkpoint = await local.loadCheckpoint();
        return checkpoint && this.#translated(checkpoint);
      } catch (error) {
        throw translate(error, name, { closing });
      }
    });
  }

  /** The chunks may come from TiKV, so their errors are translated, too. */
  #translated({ from, image, chunks }: Checkpoint): Checkpoint {
    const { closing, name } = this.#parts;
    return {
      from,
      ...(image === undefined ? {} : { image }),
      async *chunks(signal) {
        try {
          yield* chunks(signal);
        } catch (error) {
          throw translate(error, name, { signal, closing });
        }
      },
    };
  }

  size(): StorageSize {
    return this.#parts.local.size();
  }

  reclaim(): Promise<void> {
    const { lifetime, local } = this.#parts;
    return lifetime.run(() => local.reclaim());
  }
}
