import { assert, type Logger } from '@engram/core';
import { type CrashKind, type Prng, type SimHost, type SimProcess, SimStorageFaults } from '@engram/sim';
import type { LogBatch, Storage } from '@engram/storage';
import type { MountedDisk, NodeDisk } from '../disk/node-disk.ts';
import type { Settings } from '../plan/settings.ts';
import { Face, type FaceOptions } from './face.ts';

export interface LifeParts {
  readonly host: SimHost;
  readonly disk: NodeDisk;
  readonly random: Prng;
  readonly settings: Settings;
  readonly logger: Logger;
  /** Called when the storage is open, before the store reads it. */
  readonly onMounted: () => void;
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
  readonly #disk: MountedDisk;
  readonly #parts: LifeParts;
  #face: Face | undefined;
  /** True while the node may not lead. */
  leaderless = true;
  /** The time since which the node leads, on the node's clock. */
  leadsSinceMs = Number.POSITIVE_INFINITY;
  /** An operation of the disk was told to fail: the storage may take no more. */
  diskFails = false;
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
    this.#disk = disk.mount(this.process, this.faults);
  }

  /** Undefined if the store is not open yet, or the node is dead. */
  get face(): Face | undefined {
    return this.process.alive ? this.#face : undefined;
  }

  /** Reads the log, and leads in this epoch. */
  async open(epoch: number): Promise<Face> {
    const { settings, logger, onMounted, onDeposed, onFatal, onCompacted } = this.#parts;
    const { clock, random } = this.process;
    const storage = this.#tapped(await this.#disk.open());
    onMounted();
    const { process } = this;
    const face = await Face.open({
      storage,
      process,
      clock,
      random,
      logger,
      settings,
      onDeposed,
      onFatal,
      onCompacted,
    });
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

  /** Ends the process immediately. With `keepAppend`, an append under way arrives where that can be decided. */
  kill(kind: CrashKind, keepAppend: boolean): void {
    this.#disk.end(kind, keepAppend);
  }

  /** The storage, with callbacks for appends and for durable batches. */
  #tapped(storage: Storage): Storage {
    const { log, values } = storage;
    const { onAppending, onDurable } = this.#parts;
    return {
      log: {
        append: async (batch, seal) => {
          onAppending(batch);
          const outcome = await log.append(batch, seal);
          if (outcome.kind === 'committed') onDurable(batch);
          else this.leaderless = true;
          return outcome;
        },
        read: (from, signal) => log.read(from, signal),
        seal: (seal) => log.seal(seal),
        heldBy: (seal, signal) => log.heldBy(seal, signal),
      },
      values,
      [Symbol.asyncDispose]: () => storage[Symbol.asyncDispose](),
    };
  }
}
