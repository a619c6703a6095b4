import { keyValueValue } from '@engram/coder';
import { assert, type Clock, EngramError, type LogPosition } from '@engram/core';
import type { KnownValues, NeededNow } from '@engram/sequencer';
import type { Replica } from './replica.ts';

/**
 * The values that one decision needs before it can be taken. They are held by reference from the moment they are found:
 * asking the cache again while the transaction is decided could find that it has forgotten one meanwhile. What is needed
 * may change with every turn, so the decision is taken in the turn in which `collect` finds nothing missing.
 */
export class NeededValues implements KnownValues {
  readonly #replica: Replica;
  readonly #found = new Map<LogPosition, Uint8Array>();
  /** Of a decision in slices: until it asks for others. */
  readonly #passing = new Map<LogPosition, Uint8Array>();

  constructor(replica: Replica) {
    this.#replica = replica;
  }

  /** Takes what is in memory; returns what has to be read from storage. */
  collect(needs: readonly LogPosition[]): readonly LogPosition[] {
    return this.#collect(needs, this.#found);
  }

  /**
   * Reads what is missing. Versions that are newer by the time it is there are in memory. Rejects with Timeout at the deadline
   * on this clock, also where storage does not heed the signal.
   */
  loadUntil(deadlineMs: number, missing: readonly LogPosition[], clock: Clock): Promise<void> {
    const abort = new AbortController();
    return new Promise((resolve, reject) => {
      const timer = clock.after(Math.max(0, deadlineMs - clock.nowMs()), () => {
        const error = new EngramError('Timeout');
        abort.abort(error);
        reject(error);
      });
      this.#load(missing, this.#found, abort.signal)
        .then(resolve, reject)
        .finally(() => timer.cancel());
    });
  }

  /** What a decision in slices asks for. Undefined: it is there. */
  provide({ positions, kept }: NeededNow, signal: AbortSignal): Promise<void> | undefined {
    this.#passing.clear();
    const into = kept ? this.#found : this.#passing;
    const missing = this.#collect(positions, into);
    return missing.length === 0 ? undefined : this.#load(missing, into, signal);
  }

  value(position: LogPosition): Uint8Array {
    const kv = this.#found.get(position) ?? this.#passing.get(position);
    assert(kv !== undefined, `the value at ${position} was not said to be needed`);
    return keyValueValue(kv);
  }

  #collect(needs: readonly LogPosition[], into: Map<LogPosition, Uint8Array>): readonly LogPosition[] {
    const missing: LogPosition[] = [];
    for (const position of needs) {
      if (into.has(position)) continue;
      const kv = this.#replica.bytes.peek(position);
      if (kv === undefined) missing.push(position);
      else into.set(position, kv);
    }
    return missing;
  }

  async #load(missing: readonly LogPosition[], into: Map<LogPosition, Uint8Array>, signal: AbortSignal): Promise<void> {
    const { scanner, state } = this.#replica;
    const kvs = await scanner.versions(missing, state.compactRevision, signal);
    for (let at = 0; at < missing.length; at += 1) into.set(missing[at]!, kvs[at]!);
  }
}

/** Of a decision that looks at no value. */
export const nothingNeeded: KnownValues = {
  value: (position) => {
    throw new Error(`the value at ${position} was not said to be needed`);
  },
};
