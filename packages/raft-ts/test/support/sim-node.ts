import {
  type Entry,
  type HardState,
  indexAfter,
  type LogIndex,
  type LogStorage,
  type MemoryLog,
  type Message,
  type NodeId,
  type Persist,
  type RaftLimits,
  type ReadState,
  RawNode,
  type Ready,
  type Snapshot,
} from '@engram/raft-ts';
import type { Prng } from '@engram/sim';
import { bytes, textOf } from './group.ts';

/** A storage that is not always ready: at times it fetches entries, or prepares a snapshot. */
class BusyStorage implements LogStorage {
  readonly log: MemoryLog;
  readonly #prng: Prng;
  readonly #busy: number;
  waits = false;

  constructor(log: MemoryLog, prng: Prng, busy: number) {
    this.log = log;
    this.#prng = prng;
    this.#busy = busy;
  }

  firstIndex = (): LogIndex => this.log.firstIndex();
  lastIndex = (): LogIndex => this.log.lastIndex();
  term: LogStorage['term'] = (index) => this.log.term(index);

  entries(from: LogIndex, to: LogIndex, bytesMax: number): readonly Entry[] | 'loading' {
    if (!this.#prng.chance(this.#busy)) return this.log.entries(from, to, bytesMax);
    this.waits = true;
    return 'loading';
  }

  snapshot(): Snapshot | 'preparing' {
    return this.#prng.chance(this.#busy) ? 'preparing' : this.log.snapshot();
  }
}

/** Hashes a history of entries: equal histories have equal numbers, different ones hardly ever. */
export function extend(history: number, entry: Entry): number {
  const text =
    entry.kind === 'normal'
      ? `${entry.index}@${entry.term} ${textOf(entry.data)}`
      : `${entry.index}@${entry.term} ${entry.change.kind} ${entry.change.node}`;
  let hash = history;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0;
  return hash;
}

export interface SimNodeHooks {
  /** The node has applied everything up to `index`. `history` is the number of what it has applied. */
  applied(node: SimNode, index: LogIndex, history: number): void;
  read(node: SimNode, state: ReadState): void;
  send(messages: readonly Message[]): void;
}

/**
 * A node with a slow disk and a slow application. A crash loses or keeps the save that the disk has not confirmed, as a
 * whole. A commit that needed no sync may be lost.
 */
export class SimNode {
  readonly id: NodeId;
  readonly #prng: Prng;
  readonly #limits: RaftLimits;
  readonly #hooks: SimNodeHooks;
  readonly #busy: number;
  log: MemoryLog;
  #synced: HardState;
  #storage: BusyStorage;
  raw: RawNode;
  up = true;
  #held: Persist | undefined;
  #toApply: Entry[] = [];
  #history = 0;
  #appliedIndex: LogIndex;

  constructor(id: NodeId, log: MemoryLog, prng: Prng, limits: RaftLimits, busy: number, hooks: SimNodeHooks) {
    this.id = id;
    this.log = log;
    this.#prng = prng;
    this.#limits = limits;
    this.#busy = busy;
    this.#hooks = hooks;
    this.#synced = log.hardState;
    this.#storage = new BusyStorage(log, prng, busy);
    this.#appliedIndex = log.snapshot().index;
    this.raw = this.#start();
  }

  get persists(): boolean {
    return this.#held !== undefined;
  }

  /** Takes a `Ready`. Its `Persist` stays under way until `finishPersist`. */
  process(): void {
    if (!this.raw.hasReady) return;
    const ready: Ready = this.raw.ready();
    this.#hooks.send(ready.messages);
    for (const state of ready.readStates) this.#hooks.read(this, state);
    this.#toApply.push(...ready.committedEntries);
    if (ready.persist !== undefined) this.#held = ready.persist;
  }

  finishPersist(): void {
    const persist = this.#held;
    if (persist === undefined) return;
    this.#held = undefined;
    this.#save(persist);
    if (persist.snapshot !== undefined) this.#install(persist.snapshot);
    this.#hooks.send(persist.messages);
    this.raw.advance();
  }

  applyOne(): void {
    const entry = this.#toApply.shift();
    if (entry === undefined) return;
    if (entry.index !== indexAfter(this.#appliedIndex))
      throw new Error(`applied ${entry.index} behind ${this.#appliedIndex}`);
    this.#history = extend(this.#history, entry);
    this.#appliedIndex = entry.index;
    this.raw.applied(entry.index);
    this.#hooks.applied(this, entry.index, this.#history);
  }

  /** Storage has the entries that it was fetching. */
  load(): void {
    if (!this.#storage.waits) return;
    this.#storage.waits = false;
    this.raw.loaded();
  }

  compact(keep: number): void {
    const index = this.#appliedIndex;
    const term = this.log.term(index);
    if (term === undefined || index <= this.log.snapshot().index) return;
    this.log.setSnapshot({ index, term, conf: this.raw.conf, data: bytes(String(this.#history)) });
    this.log.compact(Math.max(0, index - keep) as LogIndex);
  }

  crash(): void {
    this.up = false;
    const held = this.#held;
    if (held !== undefined && this.#prng.chance(0.5)) this.#save(held);
    // A commit that was written without a sync is lost.
    else if (this.#prng.chance(0.5))
      this.log.save({ snapshot: undefined, entries: [], mustSync: true, messages: [], hardState: this.#synced });
    this.#held = undefined;
  }

  restart(): void {
    this.up = true;
    this.#storage = new BusyStorage(this.log, this.#prng, this.#busy);
    this.raw = this.#start();
  }

  #start(): RawNode {
    const snapshot = this.log.snapshot();
    this.#toApply = [];
    this.#install(snapshot);
    const options = { ...this.#limits, id: this.id, random: this.#prng };
    return new RawNode(options, this.#storage, {
      hardState: this.log.hardState,
      conf: snapshot.conf,
      applied: snapshot.index,
    });
  }

  #save(persist: Persist): void {
    this.log.save(persist);
    if (persist.mustSync) this.#synced = this.log.hardState;
  }

  #install(snapshot: Snapshot): void {
    this.#toApply = this.#toApply.filter((entry) => entry.index > snapshot.index);
    this.#history = Number(textOf(snapshot.data));
    this.#appliedIndex = snapshot.index;
    this.#hooks.applied(this, snapshot.index, this.#history);
  }
}
