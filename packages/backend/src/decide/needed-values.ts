import { keyValueValue } from '@engram/coder';
import { assert, AssertionError, type Clock, EngramError, type LogPosition } from '@engram/core';
import type { DecisionValues } from '@engram/sequencer';
import type { Replica } from '../replica/replica.ts';

/**
 * The values that one decision needs before it can be taken. Each is held by reference from the moment it is found,
 * because the cache may evict it before the transaction is decided. The needs may change with every turn, so the
 * decision is taken in the turn in which `collect` finds nothing missing.
 */
export class NeededValues implements DecisionValues {
  readonly #replica: Replica;
  readonly #signal: AbortSignal;
  readonly #found = new Map<LogPosition, Uint8Array>();
  /** Values that a decision asks for as it goes, held until it asks for others. */
  readonly #passing = new Map<LogPosition, Uint8Array>();

  /** @param signal ends reads from storage that the decision asks for as it goes. */
  constructor(replica: Replica, signal: AbortSignal) {
    this.#replica = replica;
    this.#signal = signal;
  }

  /** Takes the values that are in memory. Returns the positions of those that must be read from storage. */
  collect(needs: readonly LogPosition[]): readonly LogPosition[] {
    return this.#collect(needs, this.#found);
  }

  /**
   * Reads the missing values. Versions that are newer by then are in memory. Rejects with Timeout at `deadlineMs` of
   * this clock, also if storage ignores the signal.
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

  /** See `DecisionValues`. */
  bring(positions: readonly LogPosition[], kept: boolean): Promise<void> | undefined {
    this.#passing.clear();
    const into = kept ? this.#found : this.#passing;
    const missing = this.#collect(positions, into);
    return missing.length === 0 ? undefined : this.#load(missing, into, this.#signal);
  }

  value(position: LogPosition): Uint8Array {
    const kv = this.#found.get(position) ?? this.#passing.get(position);
    assert(kv !== undefined, `the value at ${position} was not said to be needed`);
    return keyValueValue(kv);
  }

  #collect(needs: readonly LogPosition[], into: Map<LogPosition, Uint8Array>): readonly LogPosition[] {
    const missing: LogPosition[] = [];
    for (const position of needs) {
      if (this.#found.has(position) || into.has(position)) continue;
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

/** For a decision that reads no value. */
export const nothingNeeded: DecisionValues = {
  bring: (positions) => assertNotNeeded(positions[0]),
  value: (position) => assertNotNeeded(position),
};

function assertNotNeeded(position: LogPosition | undefined): never {
  throw new AssertionError(`the value at ${position} was not said to be needed`);
}
