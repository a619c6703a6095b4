import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { epoch, type LogPosition, logPosition, type Seal } from '@engram/core';
import { quiet, realClock, realRandom } from '@engram/sim';
import type { AppendOutcome, LogBatch } from '@engram/storage';
import { LogKeys, openRoot, openTikvStorage, type TikvStorage } from '@engram/storage-tikv';
import { TikvClient } from '@engram/tikv-client';
import type { Lab } from './lab.ts';

export interface RaceOptions {
  /** The number of races in all lanes. */
  readonly races: number;
  /** The time limit, even if fewer races have run. */
  readonly seconds: number;
}

/** Logs that are raced for at a time. */
const LANES = 12;
/** The longest delay of a seal after the append begins: an append takes about as long. */
const DELAY_MAX_MS = 8;
const RECORD_BYTES = 600;
/** The timeout of an append, so that some are uncertain when the stores are busy. */
const APPEND_TIMEOUT_MS = 4_000;

const never = new AbortController().signal;

interface Counts {
  races: number;
  /** Appends that were sent before the seal was answered, and refused by it. At most one in a race. */
  refusedUnderWay: number;
  /** Appends that were acknowledged between the sending of a seal and its answer. */
  acknowledgedUnderWay: number;
  /** Attempts without an answer. */
  uncertain: number;
  batches: number;
  /** The duration of each seal. */
  sealMs: number[];
}

/**
 * Two nodes take one log from each other, in many logs at a time: while one appends, the other seals. For every seal,
 * each acknowledged batch must lie before it and be read exactly once in its place. No refused batch may be read, and
 * no batch after the seal may be acknowledged. Returns a line with the results. Throws at a violation.
 */
export async function logRaces(lab: Lab, options: RaceOptions): Promise<string> {
  const counts: Counts = {
    races: 0,
    refusedUnderWay: 0,
    acknowledgedUnderWay: 0,
    uncertain: 0,
    batches: 0,
    sealMs: [],
  };
  const startMs = performance.now();
  const endMs = startMs + options.seconds * 1_000;
  const clients = [await connect(lab), await connect(lab)] as const;
  try {
    await Promise.all(
      Array.from({ length: LANES }, async () => {
        const lane = await Lane.open(clients, counts);
        try {
          while (counts.races < options.races && performance.now() < endMs) await lane.race();
        } finally {
          await lane.close();
        }
      }),
    );
  } finally {
    for (const client of clients) await client.close();
  }
  const { races, refusedUnderWay, acknowledgedUnderWay, uncertain, batches, sealMs } = counts;
  const close = Math.min(refusedUnderWay, acknowledgedUnderWay);
  if (races === 0 || close < races / 2) throw new Error(`of ${races} races ${close} were races`);
  sealMs.sort((left, right) => left - right);
  const at = (share: number): string => sealMs[Math.floor(sealMs.length * share)]!.toFixed(1);
  return (
    `${races} races in ${((performance.now() - startMs) / 1_000).toFixed(1)} s: while the seal was under way ` +
    `${acknowledgedUnderWay} appends were acknowledged and ${refusedUnderWay} refused; ${batches} batches acknowledged, none ` +
    `lost, none twice; ${uncertain} answers stayed away; a seal and the end behind it p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`
  );
}

/** What the appending node sees of the sealing one. */
interface Race {
  state: 'not yet' | 'sealing' | 'sealed';
  sealed: LogPosition | undefined;
}

/** One log, and the two nodes that compete for it. */
class Lane {
  readonly #nodes: readonly [TikvStorage, TikvStorage];
  readonly #counts: Counts;
  /** The index of the node that holds the log. */
  #holder: 0 | 1 = 0;
  #seal: Seal;
  #next: LogPosition;
  #made = 0;
  /** The batches acknowledged since the last verified seal. */
  #acknowledged: LogBatch[] = [];
  /** The end of the verified part. */
  #verified = logPosition(1);

  private constructor(nodes: readonly [TikvStorage, TikvStorage], seal: Seal, next: LogPosition, counts: Counts) {
    this.#nodes = nodes;
    this.#seal = seal;
    this.#next = next;
    this.#counts = counts;
  }

  static async open(clients: readonly [TikvClient, TikvClient], counts: Counts): Promise<Lane> {
    const prefix = `race/${randomUUID()}`;
    const nodes = [await openNode(clients[0], prefix), await openNode(clients[1], prefix)] as const;
    const seal = sealOf(1, 0);
    return new Lane(nodes, seal, await nodes[0].log.seal(seal), counts);
  }

  async close(): Promise<void> {
    for (const node of this.#nodes) await node[Symbol.asyncDispose]();
  }

  /** The holder appends until it is fenced. Meanwhile the other node seals, and then holds the log. */
  async race(): Promise<void> {
    const other = this.#holder === 0 ? 1 : 0;
    const seal = sealOf(this.#seal.epoch + 1, other);
    const race: Race = { state: 'not yet', sealed: undefined };
    const appending = this.#append(race);
    // The failure is handled where the promise is awaited.
    appending.catch(() => {});
    await sleep(Math.random() * DELAY_MAX_MS);
    const startMs = performance.now();
    race.state = 'sealing';
    const sealed = await this.#nodes[other].log.seal(seal);
    race.state = 'sealed';
    race.sealed = sealed;
    this.#counts.sealMs.push(performance.now() - startMs);
    const refused = await appending;
    this.#counts.races += 1;
    if (this.#next !== sealed) {
      throw new Error(`sealed at ${sealed}, and batches up to ${this.#next} were acknowledged`);
    }
    await this.#verify(other, sealed, refused);
    this.#holder = other;
    this.#seal = seal;
  }

  /** Returns the batch that was fenced. */
  async #append(race: Race): Promise<LogBatch> {
    for (;;) {
      const batch = this.#batch();
      const sentBefore = race.state !== 'sealed';
      const outcome = await this.#settled(batch);
      if (outcome.kind === 'fenced') {
        if (sentBefore) this.#counts.refusedUnderWay += 1;
        return batch;
      }
      const end = batch.first + batch.records.length;
      if (race.sealed !== undefined && end > race.sealed) {
        throw new Error(`acknowledged up to ${end}, and sealed at ${race.sealed} before`);
      }
      if (race.state === 'sealing') this.#counts.acknowledgedUnderWay += 1;
      this.#counts.batches += 1;
      this.#acknowledged.push(batch);
      this.#next = logPosition(end);
    }
  }

  async #settled(batch: LogBatch): Promise<AppendOutcome> {
    for (let tries = 0; ; tries += 1) {
      const outcome = await this.#nodes[this.#holder].log.append(batch, this.#seal);
      if (outcome.kind !== 'uncertain') return outcome;
      this.#counts.uncertain += 1;
      if (tries > 30) throw new Error('an append is never settled', { cause: outcome.cause });
      await sleep(100);
    }
  }

  async #verify(node: 0 | 1, end: LogPosition, refused: LogBatch): Promise<void> {
    const due = this.#acknowledged;
    let position = this.#verified;
    let at = 0;
    for await (const batch of this.#nodes[node].log.read(position, never)) {
      const wanted = due[at];
      const wrong = batch.first !== position || wanted === undefined || !sameRecords(batch, wanted);
      if (wrong) throw new Error(`the batch at ${batch.first} is not what was acknowledged`);
      if (sameRecords(batch, refused)) throw new Error(`the batch at ${batch.first} was refused, and is there`);
      at += 1;
      position = logPosition(position + batch.records.length);
    }
    if (at !== due.length || position !== end)
      throw new Error(`${at} batches up to ${position} of ${due.length} up to ${end}`);
    this.#acknowledged = [];
    this.#verified = end;
  }

  #batch(): LogBatch {
    const records = Array.from({ length: 1 + Math.floor(Math.random() * 4) }, () => {
      this.#made += 1;
      const bytes = Buffer.alloc(RECORD_BYTES, this.#made);
      bytes.writeUInt32LE(this.#made);
      return bytes;
    });
    return { first: this.#next, records };
  }
}

function sealOf(number: number, node: 0 | 1): Seal {
  return { epoch: epoch(number), holder: BigInt(node + 1) };
}

function sameRecords(left: LogBatch, right: LogBatch): boolean {
  if (left.records.length !== right.records.length) return false;
  return left.records.every((record, index) => Buffer.compare(record, right.records[index]!) === 0);
}

function connect(lab: Lab): Promise<TikvClient> {
  return TikvClient.connect({ pdAddresses: lab.pdAddresses });
}

async function openNode(client: TikvClient, prefix: string): Promise<TikvStorage> {
  const found = { clusterId: 1n, members: [] };
  const root = await openRoot({ client, keys: new LogKeys(prefix), found, timeoutMs: 10_000 });
  const parts = { clock: realClock, random: realRandom, logger: quiet };
  const local = { kind: 'memory', bytesMax: 1 << 20 } as const;
  return await openTikvStorage({ client, prefix, root, local, ...parts, appendTimeoutMs: APPEND_TIMEOUT_MS });
}
