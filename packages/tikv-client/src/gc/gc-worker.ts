import { keySuccessor } from '@engram/core';
import type { Backoffer } from '../backoff/backoffer.ts';
import { shiftTimestamp, type Timestamp } from '@engram/tso';
import type { Engine } from '../engine.ts';
import { TikvError } from '../errors.ts';
import { isUnimplemented } from '../pd/pd-client.ts';
import { lowerEnd } from '../region/region.ts';
import type { CallOptions } from '../runtime/call.ts';
import { settleAll } from '../runtime/settle-all.ts';
import { commands } from '../transport/commands.ts';
import { expandLock, type FinalStatus } from '../txn/lock.ts';

/** The id of the collector's own service safe point in PD. PD creates it at 0, without an end, until a client moves it. */
const GC_WORKER = 'gc_worker';
const FOREVER_SECONDS = 2n ** 63n - 1n;
const LOCKS_PER_PAGE = 1_024;
const REGIONS_AT_A_TIME = 4;

export interface GcResult {
  /** TiKV may collect versions below this timestamp from now on. */
  readonly safePoint: Timestamp;
  /** The safe point is below the target, because another service still needs older versions. */
  readonly heldBack: boolean;
  readonly resolvedLocks: number;
}

/**
 * Moves the safe point, below which TiKV collects old versions. Without TiDB no other process does. One process of a cluster
 * should run it. Several do no harm, because the safe point only grows.
 */
export class GcWorker {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /**
   * Runs one round: announces the target to PD, ends every transaction with a lock below it, then moves the safe point.
   * Versions that reads at the safe point and above need stay. @param retentionMs how far back reads must remain possible
   */
  async collect(retentionMs: number, options?: CallOptions): Promise<GcResult> {
    if (!(retentionMs >= 0)) throw new TikvError('invalid-argument', `retentionMs ${retentionMs}`);
    const call = this.#engine.call(options);
    const backoffer = this.#engine.backoffer(call, this.#engine.settings.backoffBudgetMs * 3);
    const target = shiftTimestamp(await this.#engine.pd.oracle.next(call), -retentionMs);
    const { safePoint, newCalls } = await this.#announce(target, backoffer);
    const before = await this.#engine.safePoint.read(call);
    if (!newCalls && safePoint <= before) return { safePoint: before, heldBack: safePoint < target, resolvedLocks: 0 };
    // A lock below the safe point could still commit after versions that it needs were collected, so all are resolved first.
    const resolvedLocks = await this.resolveLocks(safePoint, backoffer);
    const { pd } = this.#engine;
    const moved = newCalls ? await pd.advanceGcSafePoint(safePoint, call) : await pd.updateGcSafePoint(safePoint, call);
    this.#engine.safePoint.learn(moved);
    return { safePoint: moved, heldBack: safePoint < target, resolvedLocks };
  }

  /** PD's current safe point. 0 if no client has moved it yet. */
  async safePoint(options?: CallOptions): Promise<Timestamp> {
    return await this.#engine.safePoint.read(this.#engine.call(options));
  }

  /** Keeps versions from `timestamp` on for `ttlSeconds`, under the caller's `name`. The caller renews it before it expires. */
  async hold(name: string, timestamp: Timestamp, ttlSeconds: number, options?: CallOptions): Promise<void> {
    if (name === GC_WORKER) throw new TikvError('invalid-argument', `"${name}" is the collector's own name`);
    const call = this.#engine.call(options);
    await this.#engine.checkAllocated(timestamp, call);
    try {
      await this.#engine.pd.setGcBarrier(name, timestamp, BigInt(ttlSeconds), call);
    } catch (error) {
      if (!isUnimplemented(error)) throw error;
      const lowest = await this.#engine.pd.updateServiceSafePoint(name, BigInt(ttlSeconds), timestamp, call);
      if (lowest > timestamp) throw new TikvError('gc-too-early', `${timestamp} is below ${lowest}`);
    }
  }

  /** Ends the hold of `name`. */
  async release(name: string, options?: CallOptions): Promise<void> {
    const call = this.#engine.call(options);
    try {
      await this.#engine.pd.deleteGcBarrier(name, call);
    } catch (error) {
      if (!isUnimplemented(error)) throw error;
      await this.#engine.pd.updateServiceSafePoint(name, 0n, 0n, call);
    }
  }

  async #announce(target: Timestamp, backoffer: Backoffer): Promise<{ safePoint: Timestamp; newCalls: boolean }> {
    const { pd } = this.#engine;
    try {
      const { newTxnSafePoint } = await pd.advanceTxnSafePoint(target, backoffer.call);
      return { safePoint: newTxnSafePoint, newCalls: true };
    } catch (error) {
      if (!isUnimplemented(error)) throw error;
    }
    const lowest = await pd.updateServiceSafePoint(GC_WORKER, FOREVER_SECONDS, target, backoffer.call);
    return { safePoint: lowest < target ? lowest : target, newCalls: false };
  }

  /** Ends every transaction with a lock up to `safePoint`, in all regions. Returns the number of locks. */
  async resolveLocks(safePoint: Timestamp, backoffer: Backoffer): Promise<number> {
    let resolved = 0;
    let cursor = new Uint8Array(0) as Uint8Array;
    for (;;) {
      const starts: Uint8Array[] = [];
      const ends: Uint8Array[] = [];
      for (let next = cursor; starts.length < REGIONS_AT_A_TIME; ) {
        if (this.#engine.locator.cached(next, backoffer.call) === undefined)
          await this.#engine.locator.prefetch(next, new Uint8Array(0), backoffer.call);
        const region = await this.#engine.locator.locate(next, backoffer);
        starts.push(next);
        ends.push(region.end);
        next = region.end;
        if (next.length === 0) break;
      }
      const counts = await settleAll(
        starts.map((start, at) => this.#resolveRange(start, ends[at]!, safePoint, backoffer)),
      );
      for (const count of counts) resolved += count;
      cursor = ends[ends.length - 1]!;
      if (cursor.length === 0) return resolved;
    }
  }

  async #resolveRange(
    start: Uint8Array,
    end: Uint8Array,
    maxVersion: Timestamp,
    backoffer: Backoffer,
  ): Promise<number> {
    let resolved = 0;
    let cursor = start;
    for (let relocations = 0; ; ) {
      backoffer.call.check();
      const region = await this.#engine.locator.locate(cursor, backoffer);
      const endKey = lowerEnd(region.end, end);
      const request = { maxVersion, startKey: cursor, endKey, limit: LOCKS_PER_PAGE };
      const result = await this.#engine.onRegion(region, commands.scanLock, request, backoffer, relocations, {
        context: { notFillCache: true },
      });
      if (result.kind === 'relocate') {
        relocations += 1;
        continue;
      }
      relocations = 0;
      const { locks, error } = result.response;
      if (error !== undefined) throw new TikvError('protocol-error', 'ScanLock met an error of a key');
      // The statuses are kept here: the cache that all ranges share may be smaller than the transactions of one page.
      const byTransaction = new Map<Timestamp, { readonly status: FinalStatus; readonly keys: Uint8Array[] }>();
      for (const lock of locks.flatMap(expandLock)) {
        const known = byTransaction.get(lock.lockVersion);
        const status = known?.status ?? (await this.#engine.resolver.forceFinal(lock, backoffer));
        if (known === undefined) byTransaction.set(lock.lockVersion, { status, keys: [lock.key] });
        else known.keys.push(lock.key);
      }
      for (const [startTs, { status, keys }] of byTransaction) {
        await this.#engine.resolver.resolveKeys(keys, startTs, status, backoffer);
      }
      resolved += locks.length;
      const last = locks[locks.length - 1];
      if (last !== undefined && locks.length >= LOCKS_PER_PAGE) cursor = keySuccessor(last.key);
      else if (endKey.length === 0 || (end.length > 0 && Buffer.compare(endKey, end) >= 0)) return resolved;
      else cursor = endKey;
    }
  }
}
