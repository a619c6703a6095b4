import type { Logger } from '@engram/core';
import { assert, logPosition, type Seal } from '@engram/core';
import { Prng, quiet, Scheduler, SimClock } from '@engram/sim';
import {
  type ImagePart,
  type LogBatch,
  StorageCorruptError,
  StorageFencedError,
  StorageTrimmedError,
  StorageUnavailableError,
} from '@engram/storage';
import { never, sealOf } from '@engram/storage/testing';
import { RetryQueue } from '@engram/retry-queue';
import { LogKeys, openRoot, openTikvStorage, type TikvStorage } from '@engram/storage-tikv';
import { TikvClient } from '@engram/tikv-client';
import { FakeCluster, type Fault } from '@engram/tikv-client/testing';
import { HeldWay } from './stopping.ts';

const NODES = 3;
const TURNS_OF_A_NODE = 6;
const APPENDS_OF_A_TURN = 8;
const PREFIX = 'race';
/** How long a node may be silent before a trim does not wait for it. Much shorter than some of the times for which a way is held. */
const SILENT_MAX_MS = 1_000;
const HOLD_MS_MAX = 12_000;

export interface RaceCounts {
  committed: number;
  fenced: number;
  retried: number;
  sealed: number;
  sealsRefused: number;
  splits: number;
  /** Regions that were given to another store. */
  transfers: number;
  segments: number;
  requests: number;
  /** Appends whose outcome is not known any more. */
  trimmed: number;
  trims: number;
  holds: number;
  /** Answers to the question who holds the log. */
  held: number;
  lost: number;
  /** Records that a node has read that never leads. */
  read: number;
}

/** The fault of a request, by chance. Most requests have none. */
function faultOf(random: Prng): Fault | undefined {
  switch (random.below(45)) {
    case 0:
      return { kind: 'lose' };
    case 1:
      return { kind: 'refuse' };
    case 2:
      return { kind: 'silence', executed: random.chance(0.5) };
    case 3:
      return { kind: 'twice' };
    case 4:
    case 5:
      return { kind: 'delay', ms: random.below(3_000) };
    case 6:
      return { kind: 'region-error', error: { serverIsBusy: { reason: 'chance' } } };
    case 7:
      return { kind: 'region-error', error: { staleCommand: {} } };
    default:
      return undefined;
  }
}

interface Took {
  readonly seal: Seal;
  /** The result of `seal`. */
  readonly next: number;
}

/**
 * Nodes that take one log from each other, on one cluster of stores, while requests are lost, delayed and repeated, regions
 * split, and stores decline to write in one phase. In some runs they publish images and trim, while the way of a node to the
 * stores is held up for longer than a trim waits. After each takeover, the node reads the whole log, or what is left of it, and
 * compares it with the acknowledged records, and with what others have read. Throws if they differ.
 */
export class RaceSim {
  readonly counts: RaceCounts = {
    committed: 0,
    fenced: 0,
    retried: 0,
    sealed: 0,
    sealsRefused: 0,
    splits: 0,
    transfers: 0,
    segments: 0,
    requests: 0,
    trimmed: 0,
    trims: 0,
    holds: 0,
    held: 0,
    lost: 0,
    read: 0,
  };
  readonly #random: Prng;
  readonly #clock: SimClock;
  readonly #cluster: FakeCluster;
  readonly #keys = new LogKeys(PREFIX);
  /** Counts appends that are tried again. */
  readonly #logger: Logger = {
    ...quiet,
    warn: (_fields, message) => {
      if (message.startsWith('an append is uncertain')) this.counts.retried += 1;
    },
  };
  #epoch = 0;
  #made = 0;
  /** The acknowledged value of each position. */
  readonly #acknowledged = new Map<number, number>();
  /** The values of refused appends. They must not be in the log. */
  readonly #refused = new Set<number>();
  /** The value of each position that any node has read. */
  readonly #seen = new Map<number, number>();
  readonly #trims: boolean;
  readonly #took: Took[] = [];
  #calm = false;

  constructor(seed: number) {
    this.#random = new Prng(seed);
    this.#trims = this.#random.chance(0.6);
    this.#clock = new SimClock({ scheduler: new Scheduler({ random: this.#random }), wallMs: 1_700_000_000_000 });
    this.#cluster = new FakeCluster({ clock: this.#clock });
    this.#cluster.script(() => (this.#calm ? undefined : faultOf(this.#random)));
  }

  async run(): Promise<void> {
    await this.#clock.run(this.#race());
    if (this.#cluster.refusal !== undefined) throw this.#cluster.refusal;
  }

  async #race(): Promise<void> {
    const reading = this.#readAgain();
    await Promise.all(Array.from({ length: NODES }, (_, node) => this.#live(node)));
    this.#calm = true;
    await reading;
    this.#cluster.mvcc.declinesOnePhase = false;
    await using client = await this.#connect(new HeldWay(this.#clock));
    await using storage = await this.#open(client, undefined);
    const seal = sealOf(this.#epoch + 1, 99n);
    const next = await storage.log.seal(seal);
    await this.#verify(storage, next, seal);
    const values = new Set(this.#seen.values());
    for (const value of this.#refused) if (values.has(value)) throw new Error(`refused, and there: ${value}`);
    this.counts.requests = this.#cluster.calls.length;
    this.counts.segments = this.#took.length;
  }

  /** Opens a node, lets it lead for a while, and closes it, again and again. */
  async #live(node: number): Promise<void> {
    const way = new HeldWay(this.#clock);
    await using client = await this.#connect(way);
    for (let turn = 0; turn < TURNS_OF_A_NODE; ) {
      try {
        await using storage = await this.#open(client, BigInt(node + 1));
        do {
          turn += 1;
          await this.#lead(storage, node, way);
        } while (turn < TURNS_OF_A_NODE && this.#random.chance(0.7));
      } catch (error) {
        const passes = error instanceof StorageUnavailableError || error instanceof StorageTrimmedError;
        if (!passes && !isNotAccessible(error)) throw error;
        await this.#pause(200);
      }
    }
  }

  /** A node that never leads, and reads what was acknowledged by its positions, until nobody appends any more. */
  async #readAgain(): Promise<void> {
    const way = new HeldWay(this.#clock);
    await using client = await this.#connect(way);
    while (!this.#calm) {
      try {
        await using storage = await this.#open(client, undefined);
        do {
          await this.#pause(this.#random.below(200));
          if (this.#random.chance(0.3))
            this.#clock.after(this.#random.below(10), () => this.#hold(way, this.#random.below(4)));
          await this.#look(storage);
        } while (!this.#calm && this.#random.chance(0.95));
      } catch (error) {
        const passes = error instanceof StorageUnavailableError || error instanceof StorageTrimmedError;
        if (!passes && !isNotAccessible(error)) throw error;
      }
    }
  }

  /** Reads some of the acknowledged records. What is trimmed may be gone. */
  async #look({ values, image }: TikvStorage): Promise<void> {
    const end = this.#acknowledged.size;
    if (end === 0) return;
    const from = 1 + this.#random.below(end);
    const positions = Array.from({ length: 1 + this.#random.below(6) }, (_, index) => logPosition(from + index)).filter(
      (position) => this.#acknowledged.has(position),
    );
    let records: readonly Uint8Array[];
    try {
      records = await values.getMany(positions, never);
    } catch (error) {
      if (error instanceof StorageCorruptError && (await image.status(never)).trimmed > from) return;
      throw error;
    }
    for (const [index, position] of positions.entries()) {
      const value = Buffer.from(records[index]!).readUInt32LE();
      const expected = this.#acknowledged.get(position);
      if (value !== expected)
        throw new Error(`record ${position} was acknowledged as ${expected} and is read as ${value}`);
      this.counts.read += 1;
    }
  }

  async #lead(storage: TikvStorage, node: number, way: HeldWay): Promise<void> {
    await this.#pause(this.#random.below(400));
    // At any request of the seal, of an append, of an image or of a trim.
    if (this.#trims && this.#random.chance(0.2)) this.#clock.after(this.#random.below(300), () => this.#hold(way, 0));
    // Sometimes two nodes use one epoch. At most one of them may get it.
    if (this.#random.chance(0.8)) this.#epoch += 1;
    const seal = sealOf(this.#epoch, BigInt(node + 1));
    let next: number;
    try {
      next = await storage.log.seal(seal);
    } catch (error) {
      if (!(error instanceof StorageFencedError)) throw error;
      this.counts.sealsRefused += 1;
      return;
    }
    this.counts.sealed += 1;
    this.#took.push({ seal, next });
    await this.#verify(storage, next, seal);
    const log = new RetryQueue({ log: storage.log, clock: this.#clock, logger: this.#logger, signal: never });
    for (let count = this.#random.below(APPENDS_OF_A_TURN); count > 0; count -= 1) {
      const values = Array.from({ length: 1 + this.#random.below(3) }, () => ++this.#made);
      const batch: LogBatch = { first: logPosition(next), records: values.map((value) => this.#record(value)) };
      const asked = this.#random.chance(0.5) ? this.#ask(storage, seal) : undefined;
      // The append arrives, and its answer does not.
      if (this.#trims && this.#random.chance(0.1)) this.#hold(way, 1 + this.#random.below(2));
      const appended = await this.#append(log, batch, values, seal);
      await asked;
      if (!appended) return;
      next += values.length;
      if (this.#trims && this.#random.chance(0.3)) await this.#trim(storage, next);
      if (this.#random.chance(0.3)) await this.#pause(this.#random.below(100));
    }
  }

  #hold(way: HeldWay, requests: number): void {
    this.counts.holds += 1;
    way.hold(this.#random.below(HOLD_MS_MAX), requests);
  }

  /** Publishes an image of everything, and trims. The image itself is of no interest. */
  async #trim({ image }: TikvStorage, next: number): Promise<void> {
    const from = logPosition(next);
    async function* parts(): AsyncGenerator<ImagePart> {
      yield { kind: 'chunk', bytes: Uint8Array.of(1) };
    }
    try {
      await image.need(from, never);
      if ((await image.save(from, parts, never)) === 'published' && (await image.trim(never)) !== undefined)
        this.counts.trims += 1;
    } catch (error) {
      if (!(error instanceof StorageUnavailableError)) throw error;
    }
  }

  /** Asks whether the seal holds the log. It does not if a later one had been acknowledged before. */
  async #ask({ log }: TikvStorage, seal: Seal): Promise<void> {
    await this.#pause(this.#random.below(20));
    const deposed = this.#took.find((took) => took.seal.epoch > seal.epoch);
    let held: boolean;
    try {
      held = await log.heldBy(seal, never);
    } catch (error) {
      if (!(error instanceof StorageUnavailableError)) throw error;
      return;
    }
    this.counts[held ? 'held' : 'lost'] += 1;
    if (held && deposed !== undefined) {
      throw new Error(`epoch ${seal.epoch} holds the log, and ${deposed.seal.epoch} had sealed it before`);
    }
  }

  /** Appends until the outcome is known. Returns false if the node is deposed. */
  async #append(log: RetryQueue, batch: LogBatch, values: readonly number[], seal: Seal): Promise<boolean> {
    this.#disturb();
    const { kind } = await log.append(batch, seal);
    assert(kind !== 'superseded', 'nobody was asked who leads');
    assert(this.#trims || kind !== 'trimmed', 'nobody trims');
    this.counts[kind] += 1;
    if (kind === 'committed') this.#acknowledge(batch, values, seal);
    else if (kind === 'fenced') for (const value of values) this.#refused.add(value);
    return kind === 'committed';
  }

  /** Checks that the acknowledged batch lies before every later seal that is already acknowledged. */
  #acknowledge(batch: LogBatch, values: readonly number[], seal: Seal): void {
    for (const took of this.#took) {
      const other =
        took.seal.epoch > seal.epoch || (took.seal.epoch === seal.epoch && took.seal.holder !== seal.holder);
      if (other && batch.first + values.length > took.next) {
        throw new Error(
          `epoch ${seal.epoch} appends at ${batch.first}, and ${took.seal.epoch} has sealed at ${took.next}`,
        );
      }
    }
    for (const [index, value] of values.entries()) {
      const position = batch.first + index;
      const before = this.#acknowledged.get(position);
      if (before !== undefined) throw new Error(`record ${position} was acknowledged as ${before} and as ${value}`);
      this.#acknowledged.set(position, value);
    }
  }

  /** Checks that every record that was acknowledged before is in the log, at its position, and once; or is trimmed. */
  async #verify(storage: TikvStorage, next: number, seal: Seal): Promise<void> {
    const due = [...this.#acknowledged].filter(([position]) => position < next);
    const late = [...this.#acknowledged.keys()].filter((position) => position >= next);
    const deposed = this.#took.some((took) => took.seal.epoch > seal.epoch);
    if (late.length > 0 && !deposed) throw new Error(`sealed at ${next}, and ${late} were acknowledged before`);
    const { trimmed } = await storage.image.status(never);
    const seen = new Map<number, number>();
    for await (const { first, records } of storage.log.read(trimmed, never)) {
      for (const [index, record] of records.entries()) {
        if (seen.has(first + index)) throw new Error(`record ${first + index} is read twice`);
        seen.set(first + index, Buffer.from(record).readUInt32LE());
      }
    }
    // The read returns more records if another node has taken over and appended meanwhile.
    if (trimmed + seen.size < next) throw new Error(`sealed at ${next}, and read up to ${trimmed + seen.size}`);
    for (const [position, value] of due) {
      const there = seen.get(position);
      if (position >= trimmed && there !== value)
        throw new Error(`record ${position} was acknowledged as ${value} and is ${there}`);
    }
    for (const [position, value] of seen) {
      const before = this.#seen.get(position) ?? value;
      if (before !== value) throw new Error(`record ${position} was read as ${before} and as ${value}`);
      this.#seen.set(position, value);
    }
    if (new Set(this.#seen.values()).size !== this.#seen.size) throw new Error('a record is there twice');
  }

  #record(value: number): Uint8Array {
    const bytes = Buffer.alloc(4 + this.#random.below(this.#random.pick([1, 60, 400])));
    bytes.writeUInt32LE(value);
    return bytes;
  }

  /** Sometimes splits a region anywhere in the log, gives one to another store, or lets the stores decline to write in one phase for a while. */
  #disturb(): void {
    if (this.#random.chance(0.05)) {
      const segment = 1 + this.#random.below(2 * this.#took.length + 1);
      const position = 1 + this.#random.below(this.#acknowledged.size + 10);
      this.#cluster.regions.split(this.#keys.slot(segment, position));
      this.counts.splits += 1;
    }
    if (this.#random.chance(0.05)) {
      const { regions, stores } = this.#cluster;
      regions.transferLeader(this.#random.pick(regions.all()).start, this.#random.pick([...stores.keys()]));
      this.counts.transfers += 1;
    }
    if (this.#random.chance(0.03)) {
      const { mvcc } = this.#cluster;
      mvcc.declinesOnePhase = true;
      this.#clock.after(this.#random.below(200), () => (mvcc.declinesOnePhase = false));
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => this.#clock.after(ms, resolve));
  }

  #connect(way: HeldWay): Promise<TikvClient> {
    const { pdAddresses, transport: plain } = this.#cluster;
    const transport = way.transport(plain);
    const random = new Prng(this.#random.uint32());
    return TikvClient.connect({ pdAddresses, transport, clock: this.#clock, random, requestTimeoutMs: 1_000 });
  }

  async #open(client: TikvClient, member: bigint | undefined): Promise<TikvStorage> {
    const found = { clusterId: 7n, members: [] };
    const root = await openRoot({ client, keys: this.#keys, found, timeoutMs: 20_000 });
    return await openTikvStorage({
      client,
      prefix: PREFIX,
      root,
      local: { kind: 'memory', bytesMax: this.#random.pick([1, 500, 1 << 20]) },
      clock: this.#clock,
      random: new Prng(this.#random.uint32()),
      logger: quiet,
      ...(member === undefined ? {} : { member }),
      silentMaxMs: SILENT_MAX_MS,
      segmentBytes: this.#random.pick([300, 2_000, 1 << 20]),
      partBytesMax: this.#random.pick([200, 500, 1 << 20]),
      appendTimeoutMs: this.#random.pick([100, 2_500]),
    });
  }
}

function isNotAccessible(error: unknown): boolean {
  return error instanceof Error && 'reason' in error && error.reason === 'not-accessible';
}
