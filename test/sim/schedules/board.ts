import { epoch, logPosition, type LogPosition, type Seal } from '@engram/core';
import { Prng, quiet, Scheduler, SimClock } from '@engram/sim';
import type { LogBatch } from '@engram/storage';
import { LogKeys, openRoot, openTikvStorage, TikvRaftStorage, type TikvStorage } from '@engram/storage-tikv';
import { TikvClient } from '@engram/tikv-client';
import { type FakeCall, FakeCluster } from '@engram/tikv-client/testing';
import { expectThat } from '../judge/finding.ts';
import { StoresLog } from '../tikv/stores-log.ts';
import { Gate } from './gate.ts';

const PREFIX = 'game';
const TIMEOUT_MS = 5000;
/** Time passes only where nobody has a request, so members are silent only where a game makes them so. */
const SILENT_MAX_MS = 10;
const never = new AbortController().signal;

export const sealOf = (number: number, holder: bigint): Seal => ({ epoch: epoch(number), holder });

/** A batch of one record that says who wrote it. */
export const batchAt = (first: number, who: string): LogBatch => ({
  first: logPosition(first),
  records: [new TextEncoder().encode(`${who} ${first} ${'.'.repeat(40)}`)],
});

/** One process with a storage of its own. */
export interface Player {
  readonly name: string;
  readonly gate: Gate;
  readonly client: TikvClient;
  readonly storage: TikvStorage;
}

/** What is in the log, with who put it there. */
interface Logged {
  readonly batch: LogBatch;
  readonly seal: Seal;
}

/** The stores of one game, its players, and the truth about the log. */
export class Board {
  readonly scheduler = new Scheduler();
  readonly clock = new SimClock({ scheduler: this.scheduler });
  readonly stores = new FakeCluster({ clock: this.clock, keepsCalls: false });
  readonly keys = new LogKeys(PREFIX);
  readonly players: Player[] = [];
  readonly log: Logged[] = [];
  /** Where the log ended when each seal came. */
  readonly ends: { readonly seal: Seal; readonly next: LogPosition }[] = [];
  readonly storesLog: StoresLog;
  finding: unknown;
  #random = new Prng(1);

  constructor() {
    this.storesLog = new StoresLog({
      stores: this.stores,
      keys: this.keys,
      onBatch: (batch, seal) => {
        expectThat(
          batch.first === this.next,
          'log',
          () => `a batch at ${batch.first}, and the log ends at ${this.next}`,
        );
        this.log.push({ batch, seal });
      },
      onSealed: () => undefined,
      onSegment: () => this.ends.push({ seal: this.storesLog.sealed, next: this.next }),
      onImageRoot: () => undefined,
      onPiece: () => undefined,
      onNeed: () => undefined,
      guarded: (work) => {
        try {
          work();
        } catch (error) {
          this.finding ??= error;
        }
      },
    });
  }

  get next(): LogPosition {
    const last = this.log.at(-1)?.batch;
    return logPosition(last === undefined ? 1 : last.first + last.records.length);
  }

  /** Whether the log has exactly this batch, written with this seal. */
  has(batch: LogBatch, seal: Seal): boolean {
    return this.log.some(
      (one) =>
        one.batch.first === batch.first &&
        one.seal.epoch === seal.epoch &&
        one.seal.holder === seal.holder &&
        Buffer.compare(one.batch.records[0]!, batch.records[0]!) === 0,
    );
  }

  async join(name: string, member: bigint): Promise<Player> {
    const gate = new Gate(this.stores.transport);
    const random = this.#random.fork(name);
    const client = await TikvClient.connect({
      pdAddresses: this.stores.pdAddresses,
      transport: gate,
      clock: this.clock,
      random,
      requestSource: name,
    });
    const player: Player = { name, gate, client, storage: await this.#open(client, member, random) };
    this.players.push(player);
    return player;
  }

  /** From now on this player takes all others for silent, until they report again: its trims do not wait for them. */
  async passOver({ storage }: Player): Promise<void> {
    await storage.image.lowestNeed(this.next, never);
    await new Promise<void>((resolve) => void this.clock.after(2 * SILENT_MAX_MS, resolve));
  }

  /** The answer to the next append of this player, or to another write, never comes. The request is executed, or lost as well. */
  loseWrite({ name }: Player, lost: 'answer' | 'request', isMeant = isAppend): void {
    let isDue = true;
    this.stores.script((call) => {
      if (!isDue || call.context?.requestSource !== name || !isMeant(this.keys, call)) return undefined;
      isDue = false;
      return { kind: 'silence', executed: lost === 'answer' };
    });
  }

  /** Another process of a member opens its storage over the client of `player`. */
  open({ client, name }: Player, member: bigint): Promise<TikvStorage> {
    return this.#open(client, member, this.#random.fork(`${name} again`));
  }

  async #open(client: TikvClient, member: bigint, random: Prng): Promise<TikvStorage> {
    const root = await openRoot({
      client,
      keys: this.keys,
      found: { clusterId: 1n, members: [] },
      timeoutMs: TIMEOUT_MS,
    });
    return await openTikvStorage({
      client,
      prefix: PREFIX,
      root,
      member,
      local: { kind: 'memory' },
      clock: this.clock,
      random,
      logger: quiet,
      // Every batch ends a segment.
      segmentBytes: 1,
      silentMaxMs: SILENT_MAX_MS,
      safePoint: { retentionMs: 0, intervalMs: 600_000 },
    });
  }

  raft({ client, name }: Player, member: bigint): TikvRaftStorage {
    return new TikvRaftStorage({
      client,
      keys: this.keys,
      memberId: member,
      clock: this.clock,
      random: this.#random.fork(`raft of ${name}`),
      logger: quiet,
      signal: never,
    });
  }
}

/** Whether the request saves the Raft state of member 1. */
export function isRaftSave(keys: LogKeys, call: FakeCall): boolean {
  return written(call).some((key) => Buffer.compare(key, keys.raft(1n)) === 0);
}

/** Whether the request writes into the log, and not a seal. */
function isAppend(keys: LogKeys, call: FakeCall): boolean {
  return written(call).some((key) => keys.parse(key)?.kind === 'slot');
}

function written({ command, request }: FakeCall): readonly Uint8Array[] {
  if (command !== 'Prewrite') return [];
  const { mutations } = request as { readonly mutations: readonly { readonly key: Uint8Array }[] };
  return mutations.map(({ key }) => key);
}
