import { assert, type Logger } from '@engram/core';
import { type Prng, type SimHost, type SimProcess, SimStorageFaults } from '@engram/sim';
import { type LogBatch, type MemoryDisk, MemoryStorage, type Storage } from '@engram/storage';
import type { Settings } from '../plan/settings.ts';
import { Face, type FaceOptions } from './face.ts';

export interface LifeParts {
  readonly host: SimHost;
  readonly disk: MemoryDisk;
  readonly random: Prng;
  readonly settings: Settings;
  readonly logger: Logger;
  /** Called when a batch is sent to the log. */
  readonly onAppending: (batch: LogBatch) => void;
  /** Called when the batch is durable, before the store knows it. */
  readonly onDurable: (batch: LogBatch) => void;
  readonly onDeposed: FaceOptions['onDeposed'];
  readonly onFatal: FaceOptions['onFatal'];
  readonly onCompacted: FaceOptions['onCompacted'];
}

/** One life of the node: a process, its storage, and the store once it is open. */
export class Life {
  readonly process: SimProcess;
  readonly faults: SimStorageFaults;
  readonly storage: MemoryStorage;
  readonly #parts: LifeParts;
  #face: Face | undefined;
  /** True while the node may not lead. */
  leaderless = true;
  /** The time since which the node leads, on the node's clock. */
  leadsSinceMs = Number.POSITIVE_INFINITY;
  /** Reads of the storage were told to fail. */
  failingReads = false;
  /**
   * A read may have exceeded the time limit of the watches' history reads, because storage stalled or the node was
   * paused.
   */
  slowReads = false;
  /** The process was paused: requests may take all their time. */
  wasPaused = false;
  stopping = false;

  constructor(parts: LifeParts) {
    const { host, disk, settings, random } = parts;
    this.#parts = parts;
    this.process = host.start();
    this.faults = new SimStorageFaults(this.process, random, {
      delayMsMax: settings.storageDelayMsMax,
      atOnce: settings.storageAtOnce,
      cold: settings.storageCold,
    });
    this.storage = new MemoryStorage(this.faults, disk);
  }

  /** Undefined if the store is not open yet, or the node is dead. */
  get face(): Face | undefined {
    return this.process.alive ? this.#face : undefined;
  }

  /** Reads the log, and leads in this epoch. */
  async open(epoch: number): Promise<Face> {
    const { settings, logger, onDeposed, onFatal, onCompacted } = this.#parts;
    const { clock, random } = this.process;
    const storage = this.#tapped();
    const face = await Face.open({ storage, clock, random, logger, settings, onDeposed, onFatal, onCompacted });
    await face.lead(epoch);
    assert(this.process.alive, 'a dead node has opened its store');
    this.#face = face;
    this.leads();
    return face;
  }

  /** Notes that the node leads now. */
  leads(): void {
    this.leaderless = false;
    this.leadsSinceMs = this.process.clock.nowMs();
  }

  /** Ends the process immediately. With `keepAppend`, an append under way arrives. */
  kill(keepAppend: boolean): void {
    this.storage.crash(keepAppend);
    this.process.kill();
  }

  /** The storage, with callbacks for appends and for durable batches. */
  #tapped(): Storage {
    const { storage } = this;
    const { onAppending, onDurable } = this.#parts;
    return {
      log: {
        append: async (batch, seal) => {
          onAppending(batch);
          const outcome = await storage.append(batch, seal);
          if (outcome.kind === 'committed') onDurable(batch);
          else this.leaderless = true;
          return outcome;
        },
        read: (from, signal) => storage.read(from, signal),
        seal: (seal) => storage.seal(seal),
        heldBy: (seal, signal) => storage.heldBy(seal, signal),
      },
      values: storage,
      [Symbol.asyncDispose]: () => storage[Symbol.asyncDispose](),
    };
  }
}
