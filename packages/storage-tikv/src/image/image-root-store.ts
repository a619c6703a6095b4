import { type Seal, sameSeal } from '@engram/core';
import { StorageUnavailableError } from '@engram/storage';
import type { Transaction } from '@engram/tikv-client';
import { EMPTY_IMAGE_ROOT, encodeImageRoot, type ImageRoot } from '../format/image-root.ts';
import { imageRootOf, readImageRoot, type LogSource, sealOf } from '../log/log-source.ts';

/** The seal, storage and segment by which a node holds the log, and so may change the image's root. */
export interface RootHolder {
  readonly seal: Seal;
  readonly opener: bigint;
  /** The segment that belongs to the holder. */
  readonly segment: number;
}

export interface RootStoreOptions {
  readonly source: LogSource;
  /** Returns the holder that this node is; undefined if it does not hold the log. */
  readonly holder: () => RootHolder | undefined;
}

/** The attempts of an update. They all fail if other nodes are always faster, or answers are always lost. */
const ATTEMPTS_MAX = 20;

/** Reads the image's root in TiKV, and changes it by compare-and-set. */
export class ImageRootStore {
  readonly #options: RootStoreOptions;
  #known: ImageRoot = EMPTY_IMAGE_ROOT;

  constructor(options: RootStoreOptions) {
    this.#options = options;
  }

  /** The root as this process last read or wrote it. */
  get known(): ImageRoot {
    return this.#known;
  }

  async read(signal: AbortSignal): Promise<ImageRoot> {
    const { source } = this.#options;
    this.#known = await readImageRoot(source, signal);
    return this.#known;
  }

  /**
   * Replaces the root by the result of `change`, which may be called several times. Undefined if `change` returns undefined, or
   * if this node does not hold the log: it held none, or another storage sealed its segment before the change.
   *
   * TiKV refuses the change if the root has changed since it was read. So if two nodes both believe that they hold the log, one
   * of them changes the root first, and the `change` of the other sees the new root.
   */
  async update(
    change: (root: ImageRoot) => ImageRoot | undefined,
    signal: AbortSignal,
  ): Promise<ImageRoot | undefined> {
    const { source, holder } = this.#options;
    const call = { signal, timeoutMs: source.timeoutMs };
    let cause: unknown;
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
      const held = holder();
      if (held === undefined) return undefined;
      const txn = await source.client.begin(call);
      const [value, seal] = await Promise.all([
        txn.get(source.keys.image, call),
        txn.get(source.keys.seal(held.segment), call),
      ]);
      if (seal !== undefined) {
        const owner = sealOf(source, held.segment, seal);
        if (owner.opener !== held.opener || !sameSeal(owner.seal, held.seal)) return undefined;
        // This storage has sealed its own segment: the log goes on in the next segment.
        cause = new Error('the own segment ends');
        continue;
      }
      const next = change(this.#take(value));
      if (next === undefined) return undefined;
      txn.put(source.keys.image, encodeImageRoot(next));
      const outcome = await this.#commit(txn, signal);
      if (outcome === 'committed') {
        this.#known = next;
        return next;
      }
      cause = new Error(`changing the image's root met ${outcome}`);
    }
    throw new StorageUnavailableError(`${source.name}: the image's root cannot be changed`, { cause });
  }

  async #commit(txn: Transaction, signal: AbortSignal): Promise<string> {
    const call = { signal, timeoutMs: this.#options.source.timeoutMs };
    const outcome = await txn.commitOnePhase(call);
    if (outcome.kind !== 'undetermined') return outcome.kind;
    // Without settling, a change of an abandoned round could take effect after later changes.
    return (await outcome.settle(call)).kind;
  }

  #take(value: Uint8Array | undefined): ImageRoot {
    const { source } = this.#options;
    this.#known = imageRootOf(source, value);
    return this.#known;
  }
}
