import { type MemoryRaftDisk, MemoryRaftStorage, type RaftBatch, type RaftStorage } from '@engram/election';
import { InjectedFault } from '@engram/storage';
import type { Prng, SimProcess } from '@engram/sim';

/**
 * A member's Raft state on shared storage, as its process reaches it. A write that was sent arrives even if the process
 * is stopped or dead by then.
 */
export class SimRaftStorage implements RaftStorage {
  readonly #inner: MemoryRaftStorage;
  readonly #process: SimProcess;
  readonly #random: Prng;
  readonly #delayMsMax: number;
  #stalledUntilMs = 0;
  #failing = false;

  constructor(disk: MemoryRaftDisk, process: SimProcess, random: Prng, delayMsMax: number) {
    this.#process = process;
    this.#random = random;
    this.#delayMsMax = delayMsMax;
    this.#inner = new MemoryRaftStorage(disk, () => this.#arrive());
  }

  /** Delays later writes: they arrive after this time at the earliest. */
  stall(ms: number): void {
    this.#stalledUntilMs = Math.max(this.#stalledUntilMs, this.#nowMs + ms);
  }

  /** The next save fails with an unknown outcome. */
  failNext(): void {
    this.#failing = true;
  }

  heal(): void {
    this.#stalledUntilMs = 0;
    this.#failing = false;
  }

  async load(): ReturnType<RaftStorage['load']> {
    await this.#process.delay(this.#wayMs());
    const state = await this.#inner.load();
    await this.#process.delay(this.#wayMs());
    return state;
  }

  async save(batch: RaftBatch): Promise<void> {
    const failing = this.#failing;
    this.#failing = false;
    if (failing && this.#random.chance(0.5)) throw new InjectedFault('injected: raft state is not saved');
    const [saved] = await Promise.allSettled([this.#inner.save(batch)]);
    // The answer waits for a stopped process and does not reach a dead one.
    await this.#process.delay(this.#wayMs());
    if (saved.status === 'rejected') throw saved.reason;
    if (failing) throw new InjectedFault('injected: raft state may be saved');
  }

  async isOwned(signal: AbortSignal): Promise<boolean> {
    await this.#process.delay(Math.max(0, this.#stalledUntilMs - this.#nowMs) + this.#wayMs());
    const owned = await this.#inner.isOwned(signal);
    await this.#process.delay(this.#wayMs());
    return owned;
  }

  #arrive(): Promise<void> {
    const delayMs = Math.max(0, this.#stalledUntilMs - this.#nowMs) + this.#wayMs();
    return new Promise((resolve) => void this.#process.host.scheduler.after(delayMs, resolve));
  }

  #wayMs(): number {
    return this.#random.fraction() * this.#delayMsMax;
  }

  get #nowMs(): number {
    return this.#process.host.scheduler.nowMs;
  }
}
