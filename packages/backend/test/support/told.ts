import type { EventGroup, LogPosition, Revision, Seal, Span, TraceContext } from '@engram/core';
import { type SharedLog, SharedLogStorage, SimCopy } from '@engram/sim';
import type { AppendFault, AppendOutcome, LogBatch, StorageOperation } from '@engram/storage';
import type { Watcher, WatchSink } from '@engram/watch-hub';
import { describeEvent, describeRecord } from './described.ts';

/** Adds a line to the output of a transcript. */
export type Tell = (line: string) => void;

/** A write's span. Tells, when the write has ended, which stages it has gone through, in milliseconds since it was asked for. */
export class ToldSpan implements Span {
  readonly context = {} as TraceContext;
  readonly #name: string;
  readonly #tell: Tell;
  #askedMs: number | undefined;
  #stages: string[] = [];

  constructor(name: string, tell: Tell) {
    this.#name = name;
    this.#tell = tell;
  }

  set(): void {}

  stage(name: string, atMs: number): void {
    this.#askedMs ??= atMs;
    if (name === 'queued') return;
    this.#stages.push(`${name} ${Math.round(atMs - this.#askedMs)}`);
    if (name !== 'answered' && name !== 'refused') return;
    this.#tell(`${this.#name}: ${this.#stages.join(', ')}`);
  }

  /** Of the append. The log tells of it. */
  child(): Span {
    return new ToldSpan('', () => {});
  }

  end(): void {}
}

/** A watcher of all keys. */
export class ToldSink implements WatchSink {
  readonly #name: string;
  readonly #seen: () => Revision;
  readonly #tell: Tell;

  /** @param seen the revision that readers see. */
  constructor(name: string, seen: () => Revision, tell: Tell) {
    this.#name = name;
    this.#seen = seen;
    this.#tell = tell;
  }

  events(_watcher: Watcher, groups: readonly EventGroup[]): boolean {
    for (const { revision, events } of groups)
      this.#tell(
        `${this.#name} gets ${revision}: ${events.map(describeEvent).join('; ')} (readers at ${this.#seen()})`,
      );
    return true;
  }

  compacted(_watcher: Watcher, compactRevision: Revision): void {
    this.#tell(`${this.#name} ends: compacted at ${compactRevision}`);
  }

  progress(): void {}

  failed(cause: unknown): void {
    this.#tell(`${this.#name} ends: ${String(cause)}`);
  }
}

/** Storage over a shared log that tells of appends. An operation that is held waits until it is let go. */
export class ToldStorage extends SharedLogStorage {
  readonly #name: string;
  readonly #tell: Tell;
  readonly #held: Map<StorageOperation, (() => void)[]>;
  readonly #faults: AppendFault[];

  /** @param cold values are never in memory */
  constructor(name: string, log: SharedLog, cold: boolean, tell: Tell) {
    const held = new Map<StorageOperation, (() => void)[]>();
    const faults: AppendFault[] = [];
    super(log, new SimCopy(), {
      cold,
      gate: (operation) => {
        const waiting = held.get(operation);
        return waiting === undefined ? undefined : new Promise<void>((resolve) => waiting.push(resolve));
      },
      append: () => faults.shift() ?? 'none',
    });
    this.#name = name;
    this.#tell = tell;
    this.#held = held;
    this.#faults = faults;
  }

  override async append(batch: LogBatch, seal: Seal): Promise<AppendOutcome> {
    const records = batch.records.map(describeRecord).join('; ');
    this.#tell(`${this.#name} appends from ${batch.first} on: ${records}`);
    const outcome = await super.append(batch, seal);
    this.#tell(`${this.#name} is told of the append: ${outcome.kind}`);
    return outcome;
  }

  override getMany(positions: readonly LogPosition[], signal: AbortSignal): Promise<readonly Uint8Array[]> {
    this.#tell(`${this.#name} fetches the values at ${positions.join(' ')}`);
    return super.getMany(positions, signal);
  }

  hold(operation: StorageOperation): void {
    if (!this.#held.has(operation)) this.#held.set(operation, []);
  }

  /** Lets the first one that waits go on, or meets it with the fault. The next ones wait. */
  letGo(operation: StorageOperation, fault: AppendFault): void {
    const go = this.#held.get(operation)?.shift();
    if (go === undefined) {
      this.#tell(`no ${operation} waits`);
      return;
    }
    if (operation === 'append') this.#faults.push(fault);
    go();
  }

  free(operation: StorageOperation): void {
    const waiting = this.#held.get(operation) ?? [];
    this.#held.delete(operation);
    for (const go of waiting) go();
  }
}
