import { keyValueValue } from '@engram/coder';
import { assert, type LogPosition } from '@engram/core';
import type { KnownValues } from '@engram/sequencer';
import type { Replica } from './replica.ts';

/**
 * The values that one decision needs before it can be taken. They are held by reference from the moment they are found:
 * asking the cache again while the transaction is decided could find that it has forgotten one meanwhile. What is needed
 * may change with every turn, so the decision is taken in the turn in which `collect` finds nothing missing.
 */
export class NeededValues implements KnownValues {
  readonly #replica: Replica;
  readonly #found = new Map<LogPosition, Uint8Array>();

  constructor(replica: Replica) {
    this.#replica = replica;
  }

  /** Takes what is in memory; returns what has to be read from storage. */
  collect(needs: readonly LogPosition[]): readonly LogPosition[] {
    const missing: LogPosition[] = [];
    for (const position of needs) {
      if (this.#found.has(position)) continue;
      const kv = this.#replica.bytes.peek(position);
      if (kv === undefined) missing.push(position);
      else this.#found.set(position, kv);
    }
    return missing;
  }

  /** Reads what is missing. Versions that are newer by the time it is there are in memory. */
  async load(missing: readonly LogPosition[], signal: AbortSignal): Promise<void> {
    const { scanner, state } = this.#replica;
    const kvs = await scanner.versions(missing, state.compactRevision, signal);
    for (let at = 0; at < missing.length; at += 1) this.#found.set(missing[at]!, kvs[at]!);
  }

  value(position: LogPosition): Uint8Array {
    const kv = this.#found.get(position);
    assert(kv !== undefined, `the value at ${position} was not said to be needed`);
    return keyValueValue(kv);
  }
}
