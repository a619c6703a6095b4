import {
  type CrashKind,
  type CrashPoint,
  type DiskFault,
  Prng,
  Scheduler,
  SimDisk,
  SimHost,
  type SimProcess,
} from '@engram/sim';
import { openOn } from '../src/open.ts';
import type { SegmentStorage } from '../src/segment-storage.ts';
import { SegmentLogger } from './segment-bed.ts';

export const CRASHED = Symbol('crashed');
/** Below two directories that are missing at first. */
export const SIM_PATH = '/var/engram/segments';

/** A machine with a simulated disk, on which one process after the other opens the storage. */
export class SimMachine {
  readonly disk: SimDisk;
  readonly logger = new SegmentLogger();
  readonly #scheduler: Scheduler;
  readonly #host: SimHost;
  readonly #segmentBytes: number;

  constructor(seed: number, segmentBytes = 4096) {
    const prng = new Prng(seed);
    this.#scheduler = new Scheduler({ random: prng.fork('order') });
    this.#host = new SimHost(this.#scheduler, { name: 'node', random: prng.fork('host'), turnMsMax: 1 });
    this.disk = new SimDisk(prng.fork('disk'));
    this.#segmentBytes = segmentBytes;
  }

  /** One life of a process. It ends with the work, and what `end` says, or as `crash` says: then CRASHED. */
  async live<Result>(
    work: (storage: SegmentStorage, process: SimProcess) => Promise<Result>,
    {
      crash,
      fault,
      end = 'power',
    }: { readonly crash?: CrashPoint; readonly fault?: DiskFault; readonly end?: CrashKind } = {},
  ): Promise<Result | typeof CRASHED> {
    const process = this.#host.start();
    const ground = this.disk.ground(process);
    this.disk.arm(crash, fault);
    const crashed = new Promise<typeof CRASHED>((resolve) => process.atEnd(() => resolve(CRASHED)));
    const { clock, random } = process;
    const open = { path: SIM_PATH, clock, random, logger: this.logger, segmentBytes: this.#segmentBytes };
    const worked = openOn(ground, open).then((storage) => work(storage, process));
    try {
      return await this.#scheduler.run(Promise.race([worked, crashed]));
    } finally {
      this.disk.crash(end);
    }
  }
}
