import { assert, epoch, type LogPosition, logPosition, type Seal, sameSeal } from '@engram/core';
import type { AppendFault, FaultPlan, StorageOperation } from './fault-plan.ts';
import { Lifetime } from './lifetime.ts';
import type { AppendOutcome, Log, LogBatch } from './log.ts';
import { MemoryDisk, type StoredAppend, type StoredCheckpoint } from './memory-disk.ts';
import { isFenced, sameBatch, takesOver } from './sealing.ts';
import { StorageCorruptError, StorageFailedError } from './storage-error.ts';
import type { Checkpoint, Storage, StorageSize, Values } from './values.ts';

/**
 * Both ports in memory, for tests and simulation. It keeps the hard properties of a real storage: an append that waits
 * at the plan's gate is not durable, and drops are not durable before the next append or checkpoint. `crash` loses
 * both. `reopen` returns a storage with everything durable. It has no timers: operations wait only for the plan's gate.
 */
export class MemoryStorage implements Storage, Log, Values {
  readonly #disk: MemoryDisk;
  readonly #plan: FaultPlan;
  readonly #lifetime: Lifetime;
  #appending: StoredAppend | undefined;
  #saving = false;
  #crashed = false;
  /** The storage has crashed or is closed. Another storage may hold the disk. */
  #over = false;
  #failed: Error | undefined;

  constructor(plan: FaultPlan = {}, disk: MemoryDisk = new MemoryDisk('memory')) {
    disk.hold(this);
    this.#disk = disk;
    this.#plan = plan;
    this.#lifetime = new Lifetime(`the storage ${disk.name}`);
  }

  get log(): Log {
    return this;
  }

  get values(): Values {
    return this;
  }

  /** The bytes that a crash leaves, for a storage with another plan or for `damage`. */
  get disk(): MemoryDisk {
    return this.#disk;
  }

  append(batch: LogBatch, seal: Seal): Promise<AppendOutcome> {
    return this.#lifetime.run(async () => {
      assert(this.#appending === undefined, 'two appends at a time');
      assert(batch.records.length > 0, 'an empty batch');
      this.#refuseAfterFailure();
      this.#appending = { batch, seal };
      try {
        await this.#gate('append');
        return this.#append(batch, seal);
      } finally {
        this.#appending = undefined;
      }
    });
  }

  read(from: LogPosition, signal: AbortSignal): AsyncIterable<LogBatch> {
    this.#lifetime.check();
    this.#refuseAfterFailure();
    assert(from >= 1, 'the log begins at position 1');
    return this.#read(from, this.#disk.next, signal);
  }

  seal(seal: Seal): Promise<LogPosition> {
    return this.#lifetime.run(async () => {
      await this.#gate('seal');
      this.#refuseAfterFailure();
      const disk = this.#disk;
      if (takesOver(disk.sealed, seal, disk.name)) {
        disk.sealed = seal;
        disk.onItsWay = undefined;
      } else {
        this.#arrive();
      }
      return disk.next;
    });
  }

  heldBy(seal: Seal, signal: AbortSignal): Promise<boolean> {
    return this.#lifetime.run(async () => {
      signal.throwIfAborted();
      await this.#gate('held-by');
      signal.throwIfAborted();
      return sameSeal(this.#disk.sealed, seal);
    });
  }

  getMany(positions: readonly LogPosition[], signal: AbortSignal): Promise<readonly Uint8Array[]> {
    return this.#lifetime.run(async () => {
      signal.throwIfAborted();
      await this.#gate('get-many');
      signal.throwIfAborted();
      this.#maybeFail('get-many');
      return positions.map((position) => {
        const record = this.#disk.record(position);
        if (record === undefined) throw this.#disk.missing(position);
        return record;
      });
    });
  }

  peek(position: LogPosition): Uint8Array | undefined {
    return this.#plan.cold === true || this.#lifetime.ended ? undefined : this.#disk.record(position);
  }

  drop(positions: readonly LogPosition[]): Promise<void> {
    return this.#lifetime.run(async () => {
      await this.#gate('drop');
      const from = this.#disk.checkpoint?.from ?? logPosition(1);
      for (const position of positions) {
        assert(position < from, 'a record that a replay needs may not be dropped');
      }
      this.#disk.drop(positions);
    });
  }

  saveCheckpoint(from: LogPosition, chunks: AsyncIterable<Uint8Array>): Promise<void> {
    return this.#lifetime.run(async () => {
      assert(!this.#saving, 'two checkpoints at a time');
      assert(from <= this.#disk.next, 'a checkpoint of what the log has not reached');
      assert(from >= (this.#disk.checkpoint?.from ?? 1), 'a checkpoint older than the one before');
      this.#saving = true;
      try {
        const saved: Uint8Array[] = [];
        for await (const chunk of chunks) {
          if (this.#crashed) this.#lifetime.check();
          this.#maybeFail('save-checkpoint');
          saved.push(chunk);
        }
        await this.#gate('save-checkpoint');
        this.#disk.checkpoint = { from, chunks: saved };
        this.#disk.makeDropsDurable();
      } finally {
        this.#saving = false;
      }
    });
  }

  loadCheckpoint(): Promise<Checkpoint | undefined> {
    return this.#lifetime.run(async () => {
      await this.#gate('load-checkpoint');
      this.#maybeFail('load-checkpoint');
      const checkpoint = this.#disk.checkpoint;
      if (checkpoint === undefined) return undefined;
      return { from: checkpoint.from, chunks: (signal) => this.#chunks(checkpoint, signal) };
    });
  }

  size(): StorageSize {
    let bytes = this.#disk.recordBytes;
    for (const chunk of this.#disk.checkpoint?.chunks ?? []) bytes += chunk.length;
    return { totalBytes: bytes, inUseBytes: bytes };
  }

  /**
   * The process dies: everything that is not durable is lost, and calls under way reject. With `keepAppend`, the append
   * under way has become durable just before the crash.
   */
  crash(keepAppend = false): void {
    if (this.#over) return;
    this.#over = true;
    const append = this.#appending;
    if (keepAppend && append !== undefined && this.#mayAppend(append)) this.#disk.append(append.batch, append.seal);
    this.#crashed = true;
    void this.#lifetime.end('has crashed');
    this.#disk.crash();
    this.#disk.release(this);
  }

  /** Opens the storage as the next process would. StorageOpenError unless this one was disposed or has crashed. */
  reopen(plan: FaultPlan = {}): MemoryStorage {
    return new MemoryStorage(plan, this.#disk);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#lifetime.ended) return;
    await this.#lifetime.end('is closed');
    // It may have crashed while disposal waited for calls under way.
    if (this.#over) return;
    this.#over = true;
    this.#disk.makeDropsDurable();
    this.#disk.release(this);
  }

  #append(batch: LogBatch, seal: Seal): AppendOutcome {
    const disk = this.#disk;
    this.#arrive();
    const fenced = isFenced(disk.sealed, seal);
    const there = disk.last !== undefined && sameSeal(disk.last.seal, seal) && sameBatch(disk.last.batch, batch);
    if (fenced && !there) return { kind: 'fenced' };
    assert(there || batch.first === disk.next, 'a batch that does not begin at the end of the log');
    const fault = this.#plan.append?.(batch, seal) ?? 'none';
    switch (fault) {
      case 'none':
        if (!there) disk.append(batch, seal);
        return { kind: 'committed' };
      case 'fenced':
        disk.sealed = { epoch: epoch(disk.sealed.epoch + 1), holder: seal.holder + 1n };
        return { kind: there ? 'committed' : 'fenced' };
      default:
        return this.#uncertain({ batch, seal }, there, fault);
    }
  }

  #uncertain(append: StoredAppend, there: boolean, fault: Exclude<AppendFault, 'none' | 'fenced'>): AppendOutcome {
    const disk = this.#disk;
    const stores = fault === 'uncertain-there' || fault === 'failed-there';
    if (stores && !there) disk.append(append.batch, append.seal);
    if (fault === 'uncertain-late' && !there) disk.onItsWay = append;
    const cause = new Error(`injected: ${fault}`);
    if (fault === 'failed-there' || fault === 'failed-lost') this.#failed = cause;
    return { kind: 'uncertain', cause };
  }

  /** Adds the append that was on its way, if it may still be appended. */
  #arrive(): void {
    const disk = this.#disk;
    const late = disk.onItsWay;
    disk.onItsWay = undefined;
    if (late !== undefined && this.#mayAppend(late)) disk.append(late.batch, late.seal);
  }

  #mayAppend({ batch, seal }: StoredAppend): boolean {
    return sameSeal(seal, this.#disk.sealed) && batch.first === this.#disk.next;
  }

  async *#read(from: LogPosition, end: LogPosition, signal: AbortSignal): AsyncGenerator<LogBatch> {
    signal.throwIfAborted();
    await this.#gate('read');
    if (from > end) {
      throw new StorageCorruptError(`the log ends before ${end}, and ${from} is asked for`, this.#disk.name);
    }
    let position = from;
    while (position < end) {
      signal.throwIfAborted();
      this.#lifetime.check();
      this.#maybeFail('read');
      const batch = this.#disk.batch(position);
      position = logPosition(position + batch.records.length);
      yield batch;
    }
  }

  async *#chunks(checkpoint: StoredCheckpoint, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    for (const chunk of checkpoint.chunks) {
      signal.throwIfAborted();
      this.#lifetime.check();
      yield chunk;
    }
  }

  async #gate(operation: StorageOperation): Promise<void> {
    await this.#plan.gate?.(operation);
    // Disposal waits for calls under way. A crash does not, so another storage may hold the disk by now.
    if (this.#crashed) this.#lifetime.check();
  }

  #maybeFail(operation: 'read' | 'get-many' | 'load-checkpoint' | 'save-checkpoint'): void {
    const fault = this.#plan.fail?.(operation);
    if (fault !== undefined) throw fault;
  }

  #refuseAfterFailure(): void {
    if (this.#failed === undefined) return;
    throw new StorageFailedError(`${this.#disk.name} has failed and must be opened again`, { cause: this.#failed });
  }
}
