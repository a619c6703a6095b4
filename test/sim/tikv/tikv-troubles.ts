import type { Prng } from '@engram/sim';
import type { CommandName, FakeCall, Fault } from '@engram/tikv-client/testing';
import { keys } from './tikv-life.ts';
import type { TikvWorld } from './tikv-world.ts';

type RegionError = Extract<Fault, { readonly kind: 'region-error' }>['error'];

interface Pending {
  readonly fault: Fault;
  readonly concerns: (call: FakeCall) => boolean;
}

/** Commands that change something. */
const WRITES: ReadonlySet<CommandName> = new Set(['Prewrite', 'Commit', 'DeleteRange', 'UnsafeDestroyRange']);

/** The faults of PD and of the stores. Each ends by itself, or with `heal`. */
export class TikvTroubles {
  readonly #world: TikvWorld;
  readonly #random: Prng;
  #pending: Pending[] = [];
  #busyUntilMs = 0;
  #damages = false;
  readonly #been = new Set<bigint>();
  #busy: readonly number[] = [];

  constructor(world: TikvWorld) {
    this.#world = world;
    this.#random = world.random.fork('troubles');
    world.stores.script((call) => this.#faultOf(call));
  }

  /** The next request that `concerns` has this fault. */
  next(fault: Fault, concerns: (call: FakeCall) => boolean): void {
    this.#pending.push({ fault, concerns });
  }

  /** The next write of this member: any, one of a batch of the log, or one of a later part of a batch. */
  nextWriteOf(member: bigint, fault: Fault, what: 'any' | 'slot' | 'later part' = 'any'): void {
    this.#been.delete(member);
    this.next(fault, (call) => {
      const { command, context } = call;
      if (!WRITES.has(command) || context?.requestSource !== `m${member}`) return false;
      const isIt = what === 'any' || partOf(call) >= (what === 'slot' ? 0 : 1);
      if (isIt) this.#been.add(member);
      return isIt;
    });
  }

  /** Whether the fault that was last asked for by `nextWriteOf` has been. */
  hasBeen(member: bigint): boolean {
    return this.#been.has(member);
  }

  /** The next piece of an image is damaged where it lies, once it is written. */
  damagePiece(): void {
    this.#damages = true;
  }

  pieceWritten(key: Uint8Array): void {
    if (!this.#damages) return;
    this.#damages = false;
    this.#world.tell(() => '  a piece of an image is damaged');
    const [newest] = this.#world.stores.mvcc.row(key).writes;
    const { value } = newest!;
    // In place: what the writer has in memory is another array.
    value[this.#random.below(value.length)]! ^= 0x40;
  }

  /** Everything works again. */
  heal(): void {
    const { stores } = this.#world;
    this.#pending = [];
    this.#busyUntilMs = 0;
    this.#damages = false;
    stores.pd.leader = Math.max(0, stores.pd.leader);
    stores.pd.catchUp();
    stores.pd.repairClock();
    stores.mvcc.declinesOnePhase = false;
    stores.regions.followPd();
    for (const id of stores.stores.keys()) this.revive(id);
    for (const address of stores.pdAddresses) stores.revive(address);
    for (const { start, leaderId } of stores.regions.all())
      if (leaderId === 0) stores.regions.transferLeader(start, this.#random.pick([...stores.stores.keys()]));
  }

  /** The store dies, or never answers. Others lead its regions after a time. */
  lose(store: number, how: 'dead' | 'silent', electedAfterMs: number): void {
    const { stores, scheduler } = this.#world;
    const address = stores.addressOf(store);
    if (how === 'dead') stores.kill(address);
    else stores.paused.add(address);
    scheduler.after(electedAfterMs, () => {
      if (stores.down.has(address) || stores.paused.has(address)) this.moveLeadersFrom(store);
    });
  }

  moveLeadersFrom(store: number): void {
    const { regions } = this.#world.stores;
    const others = this.#alive().filter((id) => id !== store);
    if (others.length === 0) return;
    for (const { start, peers, leaderId } of regions.all())
      if (peers.find(({ id }) => id === leaderId)?.storeId === store)
        regions.transferLeader(start, this.#random.pick(others));
  }

  revive(store: number): void {
    const { stores } = this.#world;
    const address = stores.addressOf(store);
    // Requests of a silent store are lost with their connections.
    if (stores.paused.has(address)) stores.breakStreams(address);
    stores.revive(address);
  }

  /** Some stores refuse all requests as busy. */
  beBusy(busy: readonly number[], ms: number): void {
    this.#busy = busy;
    this.#busyUntilMs = this.#world.nowMs + ms;
  }

  /** A key at which a region may begin: of the log most of the time. */
  someKey(): Uint8Array {
    const { storesLog, history } = this.#world;
    const { segment } = storesLog;
    switch (this.#random.below(6)) {
      case 0:
        return keys.segmentStart(segment + this.#random.below(2));
      case 1:
        return keys.seal(Math.max(1, segment - this.#random.below(3)));
      case 2:
        return keys.roundStart((storesLog.root?.claim?.round ?? 0) + this.#random.below(2));
      case 3:
        return keys.raft(BigInt(this.#random.between(1, 3)));
      default:
        return keys.slot(segment, history.next + this.#random.pick([-2, 0, 1, 5]) + 2);
    }
  }

  #alive(): readonly number[] {
    const { stores } = this.#world;
    return [...stores.stores.keys()].filter((id) => {
      const address = stores.addressOf(id);
      return !stores.down.has(address) && !stores.paused.has(address);
    });
  }

  #faultOf(call: FakeCall): Fault | undefined {
    const at = this.#pending.findIndex(({ concerns }) => concerns(call));
    if (at >= 0) return this.#pending.splice(at, 1)[0]!.fault;
    if (this.#world.nowMs < this.#busyUntilMs && this.#busy.includes(call.storeId))
      return { kind: 'region-error', error: serverIsBusy };
    return undefined;
  }
}

/** The part of a batch of the log that the request writes; -1 if it writes none. */
function partOf({ command, request }: FakeCall): number {
  if (command !== 'Prewrite') return -1;
  const { mutations } = request as {
    readonly mutations: readonly { readonly key: Uint8Array; readonly value: Uint8Array }[];
  };
  for (const { key, value } of mutations) {
    const named = keys.parse(key);
    if (named?.kind === 'slot' && value.length > 0) return named.part;
  }
  return -1;
}

const serverIsBusy: RegionError = { message: 'server is busy', serverIsBusy: { reason: 'busy', backoffMs: 20 } };

/** Errors that a region may answer at any time. */
export const regionErrors: readonly RegionError[] = [
  serverIsBusy,
  { message: 'stale command', staleCommand: {} },
  { message: 'max timestamp not synced', maxTimestampNotSynced: {} },
  { message: 'read index not ready', readIndexNotReady: {} },
  { message: 'raft proposal dropped' },
];
