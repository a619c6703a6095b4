import { assert, type LogPosition, logPosition, NEW_LOG_SEAL, type Seal, sameSeal } from '@engram/core';
import {
  type AppendOutcome,
  batchFrom,
  type Checkpoint,
  type FaultPlan,
  isFenced,
  Lifetime,
  type Log,
  type LogBatch,
  sameBatch,
  type Storage,
  StorageCorruptError,
  type StorageOperation,
  type StorageSize,
  takesOver,
  type Values,
} from '@engram/storage';

import { unlessAborted } from './unless-aborted.ts';

/** One log that several members share and that outlives them all. It stands for TiKV in a cluster. */
export class SharedLog {
  readonly name: string;
  readonly batches: LogBatch[] = [];
  sealed: Seal = NEW_LOG_SEAL;
  next: LogPosition = logPosition(1);
  /** Called for each batch when it is durable, before the appender learns of it, and for each new seal. */
  onAppended: ((batch: LogBatch, seal: Seal) => void) | undefined;
  onSealed: ((seal: Seal) => void) | undefined;
  readonly #records = new Map<LogPosition, Uint8Array>();
  /** Keyed by the position of the first record. */
  readonly #appends = new Map<LogPosition, { readonly batch: LogBatch; readonly seal: Seal }>();

  constructor(name: string) {
    this.name = name;
  }

  record(position: LogPosition): Uint8Array | undefined {
    return this.#records.get(position);
  }

  /**
   * The batches from `from` on that exist now. A batch that contains `from` is cut before it. StorageCorruptError
   * beyond the end.
   */
  batchesFrom(from: LogPosition): readonly LogBatch[] {
    if (from > this.next)
      throw new StorageCorruptError(`the log ends before ${this.next}, and ${from} is asked for`, this.name);
    return this.batches
      .filter(({ first, records }) => first + records.length > from)
      .map((batch) => (batch.first >= from ? batch : batchFrom(batch, from)));
  }

  append(batch: LogBatch, seal: Seal): AppendOutcome {
    // Also covers an append that was retried, and whose first copy arrives after later batches.
    const there = this.#appends.get(batch.first);
    if (there !== undefined && sameSeal(there.seal, seal) && sameBatch(there.batch, batch))
      return { kind: 'committed' };
    if (isFenced(this.sealed, seal)) return { kind: 'fenced' };
    assert(batch.first === this.next, 'a batch that does not begin at the end of the log');
    this.batches.push(batch);
    this.#appends.set(batch.first, { batch, seal });
    for (const record of batch.records) {
      this.#records.set(this.next, record);
      this.next = logPosition(this.next + 1);
    }
    this.onAppended?.(batch, seal);
    return { kind: 'committed' };
  }

  seal(seal: Seal): LogPosition {
    if (takesOver(this.sealed, seal, this.name)) {
      this.sealed = seal;
      this.onSealed?.(seal);
    }
    return this.next;
  }
}

/** The data that one member keeps besides the shared log. Its loss loses no data of the cluster. */
export class SimCopy {
  checkpoint: { readonly from: LogPosition; readonly chunks: readonly Uint8Array[] } | undefined;
}

/** A member's storage over a shared log, for one life of the member. It reads values from the log. */
export class SharedLogStorage implements Storage, Log, Values {
  readonly #shared: SharedLog;
  readonly #copy: SimCopy;
  readonly #plan: FaultPlan;
  readonly #lifetime: Lifetime;

  constructor(shared: SharedLog, copy: SimCopy, plan: FaultPlan = {}) {
    this.#shared = shared;
    this.#copy = copy;
    this.#plan = plan;
    this.#lifetime = new Lifetime(`the node's storage over ${shared.name}`);
  }

  get log(): Log {
    return this;
  }

  get values(): Values {
    return this;
  }

  append(batch: LogBatch, seal: Seal): Promise<AppendOutcome> {
    return this.#lifetime.run(async () => {
      await this.#plan.gate?.('append');
      const fault = this.#plan.append?.(batch, seal) ?? 'none';
      if (fault === 'none') return this.#shared.append(batch, seal);
      if (fault === 'uncertain-there') this.#shared.append(batch, seal);
      assert(fault.startsWith('uncertain'), `a shared log has no fault ${fault}`);
      return { kind: 'uncertain', cause: new Error(`injected: ${fault}`) };
    });
  }

  async *read(from: LogPosition, signal: AbortSignal): AsyncGenerator<LogBatch> {
    this.#lifetime.check();
    await this.#gate('read');
    for (const batch of this.#shared.batchesFrom(from)) {
      signal.throwIfAborted();
      this.#lifetime.check();
      yield batch;
    }
  }

  seal(seal: Seal): Promise<LogPosition> {
    return this.#lifetime.run(async () => {
      await this.#plan.gate?.('seal');
      return this.#shared.seal(seal);
    });
  }

  heldBy(seal: Seal, signal: AbortSignal): Promise<boolean> {
    return this.#lifetime.run(async () => {
      await unlessAborted(Promise.resolve(this.#plan.gate?.('held-by')), signal);
      return sameSeal(this.#shared.sealed, seal);
    });
  }

  getMany(positions: readonly LogPosition[], signal: AbortSignal): Promise<readonly Uint8Array[]> {
    return this.#lifetime.run(async () => {
      await this.#plan.gate?.('get-many');
      signal.throwIfAborted();
      return positions.map((position) => {
        const record = this.#shared.record(position);
        if (record === undefined) throw new StorageCorruptError(`record ${position} is missing`, this.#shared.name);
        return record;
      });
    });
  }

  peek(position: LogPosition): Uint8Array | undefined {
    return this.#plan.cold === true || this.#lifetime.ended ? undefined : this.#shared.record(position);
  }

  async drop(): Promise<void> {
    // No effect: another member may still need the records.
  }

  async adopt(batch: LogBatch): Promise<void> {
    assert(batch.first < this.#shared.next, 'adopted a batch that is not in the log');
  }

  saveCheckpoint(from: LogPosition, chunks: AsyncIterable<Uint8Array>): Promise<void> {
    return this.#lifetime.run(async () => {
      const saved: Uint8Array[] = [];
      for await (const chunk of chunks) saved.push(chunk);
      await this.#plan.gate?.('save-checkpoint');
      this.#lifetime.check();
      this.#copy.checkpoint = { from, chunks: saved };
    });
  }

  async loadCheckpoint(): Promise<Checkpoint | undefined> {
    await this.#gate('load-checkpoint');
    const saved = this.#copy.checkpoint;
    return saved === undefined ? undefined : { from: saved.from, chunks: () => each(saved.chunks) };
  }

  size(): StorageSize {
    let bytes = 0;
    for (const chunk of this.#copy.checkpoint?.chunks ?? []) bytes += chunk.length;
    return { totalBytes: bytes, inUseBytes: bytes };
  }

  /** The process dies: its running operations never end. */
  crash(): void {
    void this.#lifetime.end('has crashed');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#lifetime.end('is closed');
  }

  async #gate(operation: StorageOperation): Promise<void> {
    await this.#plan.gate?.(operation);
    this.#lifetime.check();
  }
}

async function* each(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}
