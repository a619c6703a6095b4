import { type Seal, sameSeal } from '@engram/core';
import { StorageUnavailableError } from '@engram/storage';
import type { Transaction } from '@engram/tikv-client';
import { decodeImageRoot, EMPTY_IMAGE_ROOT, encodeImageRoot, type ImageRoot } from './image-root.ts';
import { corrupt, type LogSource, sealOf } from './log-source.ts';

/** By which right somebody changes what stands beside the log. */
export interface RootHolder {
  readonly seal: Seal;
  readonly opener: bigint;
  /** The segment that is his. */
  readonly segment: number;
}

export interface RootStoreOptions {
  readonly source: LogSource;
  /** Of this node; undefined: it does not hold the log. */
  readonly holder: () => RootHolder | undefined;
}

/** Where others are always faster, or answers always lost. */
const ATTEMPTS_MAX = 20;

/** Where the image's root is in TiKV: read, and changed from what it was. */
export class ImageRootStore {
  readonly #options: RootStoreOptions;
  #known: ImageRoot = EMPTY_IMAGE_ROOT;

  constructor(options: RootStoreOptions) {
    this.#options = options;
  }

  /** As it was read last. */
  get known(): ImageRoot {
    return this.#known;
  }

  async read(signal: AbortSignal): Promise<ImageRoot> {
    const { source } = this.#options;
    const value = await source.client.get(source.keys.image, { signal, timeoutMs: source.timeoutMs });
    return this.#take(value);
  }

  /**
   * Puts `change` of what it is in its place; `change` may be called several times. Undefined: `change` has said so, or this
   * node does not hold the log: its segment was sealed by another before the change, or nothing was held.
   *
   * TiKV refuses the change where somebody has changed the root since it was read. So of two who both believe to hold the log
   * one comes first, and the other's `change` sees that.
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
        // An own seal: the log goes on in the next segment.
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
    // Without this a change of a round that was given up could come after what was done since.
    return (await outcome.settle(call)).kind;
  }

  #take(value: Uint8Array | undefined): ImageRoot {
    const { source } = this.#options;
    const root = value === undefined ? EMPTY_IMAGE_ROOT : decodeImageRoot(value);
    if (root === undefined) throw corrupt(source, "the value of the image's root is damaged");
    this.#known = root;
    return root;
  }
}
