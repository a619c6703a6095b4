import { keyValueValue } from '@engram/coder';
import { assert, type LogPosition } from '@engram/core';
import type { Scanner, VersionBytes } from '@engram/scanner';
import type { KnownValues } from '@engram/sequencer';
import type { ReplicatedState } from './replicated-state.ts';

/**
 * The values that a decision needs before it can be taken. They are held by reference from the moment they are found:
 * asking the cache again while the transaction is sequenced could find that it has forgotten one meanwhile.
 */
export class NeededValues {
  readonly #scanner: Scanner;
  readonly #bytes: VersionBytes;
  readonly #state: ReplicatedState;
  readonly #neverAborted = new AbortController().signal;

  constructor(scanner: Scanner, bytes: VersionBytes, state: ReplicatedState) {
    this.#scanner = scanner;
    this.#bytes = bytes;
    this.#state = state;
  }

  /** Undefined when one of them has to be read from storage. */
  inMemory(needs: readonly LogPosition[]): KnownValues | undefined {
    const found = new Map<LogPosition, Uint8Array>();
    return this.#collect(needs, found).length === 0 ? knownValues(found) : undefined;
  }

  /**
   * Loads until everything that `needs` tells is at hand. It is asked again after each read: versions that are newer by
   * then are in memory.
   */
  async load(needs: () => readonly LogPosition[]): Promise<KnownValues> {
    const found = new Map<LogPosition, Uint8Array>();
    for (;;) {
      const missing = this.#collect(needs(), found);
      if (missing.length === 0) return knownValues(found);
      const kvs = await this.#scanner.versions(missing, this.#state.compactRevision, this.#neverAborted);
      for (let at = 0; at < missing.length; at += 1) found.set(missing[at]!, kvs[at]!);
    }
  }

  #collect(needs: readonly LogPosition[], found: Map<LogPosition, Uint8Array>): LogPosition[] {
    const missing: LogPosition[] = [];
    for (const position of needs) {
      if (found.has(position)) continue;
      const kv = this.#bytes.peek(position);
      if (kv === undefined) missing.push(position);
      else found.set(position, kv);
    }
    return missing;
  }
}

function knownValues(found: ReadonlyMap<LogPosition, Uint8Array>): KnownValues {
  return {
    value: (position) => {
      const kv = found.get(position);
      assert(kv !== undefined, `the value at ${position} was not said to be needed`);
      return keyValueValue(kv);
    },
  };
}
