import { logPosition } from '@engram/core';
import { Loop, SeededPace } from '@engram/loop';
import {
  DiskError,
  type DiskFault,
  diskOperations,
  Prng,
  Scheduler,
  SimDisk,
  SimHost,
  type SimProcess,
} from '@engram/sim';
import {
  type LogBatch,
  type Storage,
  StorageCorruptError,
  StorageFailedError,
  StorageOpenError,
} from '@engram/storage';
import { never, record, sealOf } from '@engram/storage/testing';
import { expect } from 'vitest';
import type { Ground } from '../src/ground.ts';
import { openOn } from '../src/open.ts';
import type { SegmentStorage } from '../src/segment-storage.ts';
import { CrashModel } from './crash-model.ts';
import { SegmentLogger } from './segment-bed.ts';

const PATH = '/data';
const CRASHED = Symbol('crashed');
/** Long enough that timers fire between operations. */
const STEP_MS_MAX = 40;

/** Counts of events, so that a test can check that the faults occurred. */
export interface SimCounts {
  crashes: number;
  torn: number;
  faults: number;
  uncertain: number;
  rewrites: number;
  records: number;
  dropped: number;
  segments: number;
}

/**
 * A node that crashes repeatedly, at any step of any operation, on a disk that keeps only what it must. Throws if
 * acknowledged data is missing, or if data exists that was never written.
 */
export class CrashSim {
  readonly counts: SimCounts = {
    crashes: 0,
    torn: 0,
    faults: 0,
    uncertain: 0,
    rewrites: 0,
    records: 0,
    dropped: 0,
    segments: 0,
  };
  readonly #prng: Prng;
  readonly #scheduler: Scheduler;
  readonly #host: SimHost;
  readonly #disk: SimDisk;
  readonly #model = new CrashModel();
  readonly #segmentBytes: number;
  readonly #faults: boolean;
  #logger = new SegmentLogger();
  #background: Promise<unknown>[] = [];
  #unexpected: unknown;
  #made = 0;

  constructor(seed: number, faults: boolean) {
    this.#prng = new Prng(seed);
    this.#scheduler = new Scheduler({ random: this.#prng.fork('order') });
    this.#host = new SimHost(this.#scheduler, { name: 'node', random: this.#prng.fork('host'), turnMsMax: 1 });
    this.#disk = new SimDisk(this.#prng.fork('disk'), STEP_MS_MAX);
    this.#segmentBytes = this.#prng.pick([4096, 6000, 16_384]);
    this.#faults = faults;
  }

  async run(lives: number): Promise<void> {
    for (let life = 0; life < lives; life += 1) {
      const used = this.#model.end > 1;
      await this.#live(life === lives - 1);
      if (this.#unexpected !== undefined) throw this.#unexpected;
      // One of the two marks is whole after every crash, once the first start has made them.
      if (used && !this.#faults) expect(this.#logger.warnings.filter((text) => text.includes('the mark'))).toEqual([]);
      this.counts.rewrites += this.#logger.rewrites;
      this.counts.torn += this.#logger.warnings.filter((text) => text.includes('torn')).length;
    }
    this.counts.records = this.#model.records.length;
    this.counts.dropped = this.#model.dropped.size;
  }

  /** One process, from start to end. The last one meets neither faults nor crashes. */
  async #live(last: boolean): Promise<void> {
    const process = this.#host.start();
    const ground = this.#disk.ground(process);
    this.#logger = new SegmentLogger();
    this.#background = [];
    if (!last) this.#arm();
    const crashed = new Promise((resolve) => process.atEnd(() => resolve(CRASHED)));
    const ended = await this.#scheduler.run(Promise.race([this.#work(process, ground, last), crashed]));
    if (ended === CRASHED) this.counts.crashes += 1;
    else this.#disk.crash(this.#prng.chance(0.3) ? 'power' : 'kill');
    this.counts.faults += this.#disk.failed;
  }

  #arm(): void {
    const prng = this.#prng;
    const fault: DiskFault = {
      operation: prng.pick(diskOperations),
      code: prng.pick(['EIO', 'ENOSPC']),
      after: prng.below(30),
    };
    const used = this.#faults && prng.chance(0.5) ? fault : undefined;
    const kind = prng.pick(['kill', 'power'] as const);
    const dice = prng.below(10);
    if (dice === 0) this.#disk.arm(undefined, used);
    else if (dice < 6) this.#disk.arm({ steps: prng.below(prng.pick([30, 300, 1500])), kind }, used);
    // Near the manifest writes, which change the set of files that count.
    else this.#disk.arm({ steps: prng.below(12), manifestWrites: prng.below(20), kind }, used);
  }

  async #work(process: SimProcess, ground: Ground, last: boolean): Promise<void> {
    const { clock, random } = process;
    const loop = new Loop({ clock, pace: new SeededPace(random) });
    const options = { path: PATH, clock, loop, random, logger: this.#logger, segmentBytes: this.#segmentBytes };
    let storage: SegmentStorage;
    try {
      storage = await openOn(ground, options);
    } catch (error) {
      if (this.#disk.failed > 0 && isRefusal(error)) return;
      throw error;
    }
    try {
      await this.#model.verify(storage);
      // Drop them again, as a store does: a crash may have brought back records dropped since the checkpoint.
      await storage.values.drop([...this.#model.dropped].map(logPosition));
      this.#model.verifySize(storage);
      const turns = this.#prng.below(last ? 80 : 60);
      for (let turn = 0; turn < turns; turn += 1) {
        // The process may have ended meanwhile.
        if (!process.alive) return;
        if (!(await this.#turn(process, storage))) break;
        if (this.#unexpected !== undefined) throw this.#unexpected;
      }
      await Promise.all(this.#background);
      if (this.#disk.failed === 0) this.#model.verifySize(storage);
      if (last) await this.#finish(storage);
    } catch (error) {
      if (this.#disk.failed === 0 || !isRefusal(error)) throw error;
    }
    await storage[Symbol.asyncDispose]();
    if (last) this.#checkNames();
  }

  /** Returns false if the storage has failed and must be opened again. */
  async #turn(process: SimProcess, storage: SegmentStorage): Promise<boolean> {
    const prng = this.#prng;
    const dice = prng.below(100);
    if (dice < 60) return await this.#append(storage);
    if (dice < 75) this.#drop(storage);
    else if (dice < 80) this.#saveCheckpoint(process, storage);
    else if (dice < 83) await this.#seal(storage);
    else if (dice < 93) this.#get(storage);
    else if (dice < 96) this.#inBackground(storage.cleaner.run());
    else if (dice < 98) this.#inBackground(storage.values.reclaim!());
    else await process.delay(prng.below(3 * STEP_MS_MAX));
    return true;
  }

  async #append(storage: Storage): Promise<boolean> {
    const count = this.#prng.pick([1, 1, 1, 2, 5, 30]);
    const records = Array.from({ length: count }, () => {
      this.#made += 1;
      return record(this.#made, this.#prng.below(this.#prng.pick([4, 80, 700])));
    });
    const batch: LogBatch = { first: logPosition(this.#model.end), records };
    this.#model.pendingBatch = batch;
    const outcome = await storage.log.append(batch, this.#model.sealed);
    if (outcome.kind === 'committed') {
      this.#model.committed(batch);
      if (this.#prng.chance(0.1)) {
        expect(await storage.log.append(batch, this.#model.sealed)).toEqual({ kind: 'committed' });
      }
      return true;
    }
    if (outcome.kind !== 'uncertain') throw new Error(`${outcome.kind} by nobody`);
    if (this.#disk.failed === 0) throw new Error('uncertain without a cause', { cause: outcome.cause });
    this.counts.uncertain += 1;
    await expect(storage.log.append(batch, this.#model.sealed)).rejects.toThrow(StorageFailedError);
    await expect(storage.log.seal(this.#model.sealed)).rejects.toThrow(StorageFailedError);
    expect(() => storage.log.read(logPosition(1), never)).toThrow(StorageFailedError);
    return false;
  }

  #drop(storage: Storage): void {
    const { from, dropped } = this.#model;
    if (from === 1) return;
    const positions: number[] = [];
    const share = this.#prng.pick([0.02, 0.3, 0.9]);
    const begin = 1 + this.#prng.below(from - 1);
    const end = begin + this.#prng.below(from - begin + 1);
    for (let position = begin; position < end; position += 1) if (this.#prng.chance(share)) positions.push(position);
    for (const position of positions) dropped.add(position);
    this.#inBackground(storage.values.drop(positions.map(logPosition)));
  }

  #saveCheckpoint(process: SimProcess, storage: Storage): void {
    const model = this.#model;
    if (model.pendingCheckpoint !== undefined) return;
    const from = model.from + this.#prng.below(model.end - model.from + 1);
    const chunks = Array.from({ length: this.#prng.below(6) }, (_, index) =>
      record(from * 10 + index, this.#prng.below(400)),
    );
    const checkpoint = { from, chunks };
    model.pendingCheckpoint = checkpoint;
    let dropped: readonly number[] = [];
    const slow = async function* (): AsyncGenerator<Uint8Array> {
      for (const chunk of chunks) {
        await process.delay(STEP_MS_MAX);
        yield chunk;
      }
      dropped = [...model.dropped];
    };
    this.#inBackground(
      storage.values.saveCheckpoint(logPosition(from), slow()).then(() => {
        model.checkpoint = checkpoint;
        model.pendingCheckpoint = undefined;
        for (const position of dropped) model.durablyDropped.add(position);
      }),
    );
  }

  async #seal(storage: Storage): Promise<void> {
    const { sealed } = this.#model;
    const newer = this.#prng.below(3);
    const next = newer === 0 ? sealed : sealOf(sealed.epoch + newer, BigInt(1 + this.#prng.below(3)));
    if (newer > 0) this.#model.pendingSeal = next;
    await storage.log.seal(next);
    this.#model.sealed = next;
    this.#model.pendingSeal = undefined;
  }

  #get(storage: Storage): void {
    const positions: number[] = [];
    for (let count = this.#prng.below(20); count > 0 && this.#model.end > 1; count -= 1) {
      const position = 1 + this.#prng.below(this.#model.end - 1);
      if (!this.#model.dropped.has(position)) positions.push(position);
    }
    this.#inBackground(this.#model.verifyGet(storage, positions));
  }

  /** A failure of the work fails the run, unless a fault was injected. */
  #inBackground(work: Promise<unknown>): void {
    const settled = work.catch((error: unknown) => {
      if (this.#disk.failed > 0 && isRefusal(error)) return;
      this.#unexpected ??= error;
    });
    this.#background.push(settled);
  }

  /** Checks that everything that can be freed is freed, and nothing else is gone. */
  async #finish(storage: SegmentStorage): Promise<void> {
    const model = this.#model;
    await storage.values.saveCheckpoint(logPosition(model.end), (async function* () {})());
    model.checkpoint = { from: model.end, chunks: [] };
    // Drop the records again that a crash has brought back.
    await storage.values.drop([...model.dropped].map(logPosition));
    await storage.cleaner.run();
    await storage.cleaner.run();
    await model.verify(storage);
    model.verifySize(storage);
    const { totalBytes, inUseBytes } = storage.values.size();
    const headers = 40 * model.records.length;
    if (totalBytes > 2 * inUseBytes + headers + 3 * this.#segmentBytes) {
      throw new Error(`${totalBytes} bytes hold ${inUseBytes} that are live`);
    }
  }

  /** Checks that every remaining file has a purpose. */
  #checkNames(): void {
    const names = this.#disk.directory.paths();
    this.counts.segments = names.filter((name) => name.endsWith('.seg')).length;
    const strange = names.filter((name) => name.endsWith('.tmp'));
    const checkpoints = names.filter((name) => name.endsWith('.ckpt'));
    if (strange.length > 0 || checkpoints.length > 1) throw new Error(`left over: ${names.join(' ')}`);
  }
}

function isRefusal(error: unknown): boolean {
  return (
    error instanceof StorageCorruptError ||
    error instanceof StorageFailedError ||
    error instanceof StorageOpenError ||
    error instanceof DiskError
  );
}
