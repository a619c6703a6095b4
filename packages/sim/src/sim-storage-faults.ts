import { type AppendFault, type FaultPlan, InjectedFault, type StorageOperation } from '@engram/storage';
import type { Prng } from './prng.ts';
import type { SimProcess } from './sim-host.ts';

export interface StorageTiming {
  /** An operation takes from 0 to this long. */
  readonly delayMsMax: number;
  /** The fraction of operations that take no time: they end in the turn of the call. */
  readonly atOnce: number;
  /** `peek` finds nothing: every version that is not cached is read. */
  readonly cold: boolean;
}

export type FailingOperation = 'read' | 'get-many' | 'load-checkpoint' | 'save-checkpoint';

/**
 * Drives the in-memory storage by the scheduler. Every operation of a process ends at an event, and none of a dead
 * process ends. The test decides which operations fail or stall.
 */
export class SimStorageFaults implements FaultPlan {
  /** An operation was told to stall. Requests may take all their time since. */
  hasStalled = false;
  readonly cold: boolean;
  readonly #process: SimProcess;
  readonly #random: Prng;
  readonly #timing: StorageTiming;
  readonly #stalledUntilMs = new Map<StorageOperation, number>();
  readonly #appends: AppendFault[] = [];
  readonly #failures = new Map<FailingOperation, number>();

  constructor(process: SimProcess, random: Prng, timing: StorageTiming) {
    this.cold = timing.cold;
    this.#process = process;
    this.#random = random;
    this.#timing = timing;
  }

  /** Operations of this kind that begin from now on end after `ms` at the earliest. */
  stall(operation: StorageOperation, ms: number): void {
    this.hasStalled = true;
    const { nowMs } = this.#process.host.scheduler;
    this.#stalledUntilMs.set(operation, Math.max(this.#stalledUntilMs.get(operation) ?? 0, nowMs + ms));
  }

  /** The next append without a fault gets this one. */
  failAppend(fault: Exclude<AppendFault, 'none'>): void {
    this.#appends.push(fault);
  }

  /** The next `times` operations of this kind reject. */
  failNext(operation: FailingOperation, times: number): void {
    this.#failures.set(operation, (this.#failures.get(operation) ?? 0) + times);
  }

  /** Ends all faults and stalls. */
  heal(): void {
    this.#stalledUntilMs.clear();
    this.#appends.length = 0;
    this.#failures.clear();
  }

  gate(operation: StorageOperation): Promise<void> | undefined {
    const stallMs = (this.#stalledUntilMs.get(operation) ?? 0) - this.#process.host.scheduler.nowMs;
    if (stallMs <= 0 && this.#process.alive && this.#random.chance(this.#timing.atOnce)) return undefined;
    return this.#process.delay(Math.max(0, stallMs) + this.#random.fraction() * this.#timing.delayMsMax);
  }

  append(): AppendFault {
    return this.#appends.shift() ?? 'none';
  }

  fail(operation: FailingOperation): Error | undefined {
    const left = this.#failures.get(operation) ?? 0;
    if (left === 0) return undefined;
    this.#failures.set(operation, left - 1);
    return new InjectedFault(`injected: ${operation} fails`);
  }
}
