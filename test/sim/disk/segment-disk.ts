import type { Logger, LogPosition } from '@engram/core';
import { Loop, SeededPace } from '@engram/loop';
import {
  type CrashPoint,
  type DiskFault,
  type FailingOperation,
  type Prng,
  SimDisk,
  type SimProcess,
  type SimStorageFaults,
} from '@engram/sim';
import type { AppendOutcome, Log, MemoryDisk, Storage, Values } from '@engram/storage';
import { type Ground, openOn } from '@engram/storage-segment';
import { Finding } from '../judge/finding.ts';
import type { MountedDisk, NodeDisk } from './node-disk.ts';
import { Promised } from './promised.ts';

/** Below a folder that is missing at first. */
const PATH = '/var/engram';

export interface SegmentDiskOptions {
  readonly random: Prng;
  /** Gets what the storage has acknowledged. */
  readonly promised: MemoryDisk;
  readonly stepMsMax: number;
  readonly segmentBytes: number;
  readonly logger: Logger;
  readonly onFinding: (finding: Finding) => void;
}

/**
 * A simulated disk under the default storage, the one of production. A loss of power leaves pages and names of what was not
 * synced in any order, and may come at any call, those of a start among them. Every start is checked by what was
 * acknowledged before: see `Promised`.
 */
export class SegmentDisk implements NodeDisk {
  readonly #options: SegmentDiskOptions;
  readonly #sim: SimDisk;
  readonly #promised: Promised;
  #storage: Storage | undefined;
  /** Something was acknowledged: the first start is over. */
  #used = false;
  #faulty = false;
  /** Counts from the next append on. */
  #crashAtAppend: CrashPoint | undefined;

  constructor(options: SegmentDiskOptions) {
    this.#options = options;
    this.#sim = new SimDisk(options.random, options.stepMsMax);
    this.#promised = new Promised(options.promised);
  }

  mount(process: SimProcess, faults: SimStorageFaults): MountedDisk {
    const ground = this.#sim.ground(process);
    this.#storage = undefined;
    this.#faulty = false;
    this.#crashAtAppend = undefined;
    return {
      open: async () => {
        const storage = await this.#open(ground, process);
        await this.#promised.check(storage);
        this.#used = true;
        this.#storage = storage;
        return this.#tapped(storage, faults);
      },
      end: (kind) => this.#sim.crash(kind),
    };
  }

  /** From now on, the process ends at this point. */
  armCrash(crash: CrashPoint): void {
    this.#sim.arm(crash, undefined);
  }

  /** As `armCrash`, counted from the next append on. */
  armCrashAtAppend(crash: CrashPoint): void {
    this.#crashAtAppend = crash;
  }

  /** From now on, this operation fails. */
  armFault(fault: DiskFault): void {
    this.#faulty = true;
    this.#sim.arm(undefined, fault);
  }

  /** No crash and no fault comes any more. */
  disarm(): void {
    this.#crashAtAppend = undefined;
    this.#sim.arm(undefined, undefined);
  }

  /** Checks that the living storage counts nothing that was dropped as in use. */
  checkSize(): void {
    this.#promised.checkSize(this.#storage!);
  }

  async #open(ground: Ground, { clock, random }: SimProcess): Promise<Storage> {
    const { segmentBytes, logger, onFinding } = this.#options;
    const warn = (fields: object, message: string): void => {
      logger.warn(fields, message);
      // One of the two marks is whole after every crash, once the first start has made them.
      if (this.#used && !this.#faulty && message.startsWith('the mark')) onFinding(new Finding('log', message));
    };
    const loop = new Loop({ clock, pace: new SeededPace(random) });
    return await openOn(ground, { path: PATH, clock, loop, random, logger: { ...logger, warn }, segmentBytes });
  }

  /** The storage with the faults of the run, and with all that it acknowledges noted. */
  #tapped(storage: Storage, faults: SimStorageFaults): Storage {
    const { log, values } = storage;
    const promised = this.#promised;
    const fail = (operation: FailingOperation): void => {
      const error = faults.fail(operation);
      if (error !== undefined) throw error;
    };
    const append: Log['append'] = async (batch, seal): Promise<AppendOutcome> => {
      await faults.gate('append');
      promised.appending(batch, seal);
      if (this.#crashAtAppend !== undefined) this.#sim.arm(this.#crashAtAppend, undefined);
      this.#crashAtAppend = undefined;
      const outcome = await log.append(batch, seal);
      if (outcome.kind === 'committed') promised.appended(batch, seal);
      else if (outcome.kind === 'fenced') promised.refused();
      return outcome;
    };
    return {
      log: {
        append,
        read: async function* (from, signal) {
          await faults.gate('read');
          for await (const batch of log.read(from, signal)) {
            fail('read');
            yield batch;
          }
        },
        seal: async (seal) => {
          await faults.gate('seal');
          promised.sealing(seal);
          const next = await log.seal(seal);
          promised.sealed(seal);
          return next;
        },
        heldBy: async (seal, signal) => {
          await faults.gate('held-by');
          return await log.heldBy(seal, signal);
        },
      },
      values: this.#tappedValues(values, faults, fail),
      [Symbol.asyncDispose]: () => storage[Symbol.asyncDispose](),
    };
  }

  #tappedValues(values: Values, faults: SimStorageFaults, fail: (operation: FailingOperation) => void): Values {
    const promised = this.#promised;
    return {
      getMany: async (positions, signal) => {
        await faults.gate('get-many');
        fail('get-many');
        return await values.getMany(positions, signal);
      },
      peek: (position, inline) => (faults.cold ? undefined : values.peek(position, inline)),
      drop: async (positions: readonly LogPosition[], bytes) => {
        await faults.gate('drop');
        promised.dropping(positions);
        await values.drop(positions, bytes);
        promised.disk.drop(positions);
      },
      saveCheckpoint: async (from, chunks) => {
        await faults.gate('save-checkpoint');
        const copies: Uint8Array[] = [];
        const copied = async function* (): AsyncGenerator<Uint8Array> {
          for await (const chunk of chunks) {
            fail('save-checkpoint');
            copies.push(chunk.slice());
            yield chunk;
          }
          promised.saving({ from, chunks: copies });
        };
        await values.saveCheckpoint(from, copied());
        promised.saved();
      },
      loadCheckpoint: async () => {
        await faults.gate('load-checkpoint');
        fail('load-checkpoint');
        return await values.loadCheckpoint();
      },
      size: () => values.size(),
      reclaim: () => values.reclaim!(),
    };
  }
}
