import { expect } from 'vitest';
import type { Random } from '@engram/core';
import {
  type ConfState,
  confState,
  defaultLimits,
  type Entry,
  type HardState,
  type LogIndex,
  logIndex,
  MemoryLog,
  type Message,
  NEW_HARD_STATE,
  NO_CONF,
  NO_INDEX,
  NO_TERM,
  nodeId,
  type NodeId,
  type RaftLimits,
  type ReadState,
  RawNode,
  type Ready,
  type Snapshot,
  type Term,
  term,
} from '@engram/raft-ts';

export const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text));
export const textOf = (data: Uint8Array): string => Buffer.from(data).toString();
export const id = (value: number): NodeId => nodeId(BigInt(value));
export const ids = (...values: readonly number[]): readonly NodeId[] => values.map(id);

/** A fixed number for all draws of the core, set by the test. */
export class FixedRandom implements Random {
  value = 0;
  uint32(): number {
    return this.value;
  }
}

/** The snapshot in which every first member of a group begins. */
export function bootstrap(conf: ConfState): Snapshot {
  return { index: logIndex(1), term: term(1), conf, data: bytes('begin') };
}

const NOWHERE: Snapshot = { index: NO_INDEX, term: NO_TERM, conf: NO_CONF, data: bytes('') };

/** Entries behind a group's beginning, one for each given term. The data of an entry is its place. */
export function entriesOf(terms: readonly number[], first = 2): Entry[] {
  return terms.map((value, at) => {
    const index = logIndex(first + at);
    return { kind: 'normal', term: term(value), index, data: bytes(`${index}@${value}`) };
  });
}

/** A node with its storage and the simplest application, which keeps a list of the applied data. */
export class TestNode {
  readonly id: NodeId;
  readonly random = new FixedRandom();
  readonly #limits: RaftLimits;
  storage: MemoryLog;
  raw: RawNode;
  /** The data that the application has applied, in order. A snapshot's data stands for everything before it. */
  state: string[] = [];
  readStates: ReadState[] = [];
  #held: Ready | undefined;

  constructor(self: NodeId, limits: RaftLimits, storage: MemoryLog) {
    this.id = self;
    this.#limits = limits;
    this.storage = storage;
    this.raw = this.#start();
  }

  static member(
    self: NodeId,
    conf: ConfState,
    limits: Partial<RaftLimits> = {},
    persisted: { readonly terms?: readonly number[]; readonly hardState?: HardState } = {},
  ): TestNode {
    const terms = persisted.terms ?? [];
    const last = terms.at(-1) ?? 1;
    const hardState = persisted.hardState ?? { term: term(last), vote: undefined, commit: logIndex(1) };
    const storage = new MemoryLog(bootstrap(conf), entriesOf(terms), hardState);
    return new TestNode(self, { ...defaultLimits, ...limits }, storage);
  }

  static joiner(self: NodeId, limits: Partial<RaftLimits> = {}): TestNode {
    return new TestNode(self, { ...defaultLimits, ...limits }, new MemoryLog(NOWHERE, [], NEW_HARD_STATE));
  }

  get status(): ReturnType<RawNode['status']> {
    return this.raw.status();
  }

  /** Does the work of one `Ready`. Returns the messages that may leave, in order. */
  process(): { readonly ready: Ready; readonly messages: readonly Message[] } {
    const ready = this.raw.ready();
    const messages = [...ready.messages];
    if (ready.persist !== undefined) {
      this.storage.save(ready.persist);
      if (ready.persist.snapshot !== undefined) this.state = [textOf(ready.persist.snapshot.data)];
      messages.push(...ready.persist.messages);
      this.raw.advance();
    }
    this.#apply(ready);
    return { ready, messages };
  }

  /** Takes a `Ready` and leaves its `Persist` under way until `finish`. */
  hold(): { readonly ready: Ready; readonly messages: readonly Message[] } {
    const ready = this.raw.ready();
    if (ready.persist !== undefined) this.#held = ready;
    this.#apply(ready);
    return { ready, messages: ready.messages };
  }

  finish(): readonly Message[] {
    const persist = this.#held?.persist;
    if (persist === undefined) throw new Error('nothing is held');
    this.#held = undefined;
    this.storage.save(persist);
    if (persist.snapshot !== undefined) this.state = [textOf(persist.snapshot.data)];
    this.raw.advance();
    return persist.messages;
  }

  /** Does all the work that is due, and returns all messages that leave. */
  settle(): readonly Message[] {
    const messages: Message[] = [];
    while (this.raw.hasReady) messages.push(...this.process().messages);
    return messages;
  }

  /** Steps the messages, and returns the messages that leave then. */
  receive(...messages: readonly Message[]): readonly Message[] {
    for (const message of messages) expect(this.raw.step(message)).toBe(undefined);
    return this.settle();
  }

  tick(times = 1): void {
    for (let count = 0; count < times; count += 1) this.raw.tick();
  }

  /** Ends the node and starts it again on its persisted state. */
  crash(): void {
    this.#held = undefined;
    this.raw = this.#start();
  }

  /** Takes a snapshot of the application, and drops the entries that it contains, except the last `keep`. */
  compact(keep = 0): void {
    const { applied } = this.raw.status();
    const snapshotTerm = this.storage.term(applied);
    if (snapshotTerm === undefined) throw new Error('nothing to compact');
    this.storage.setSnapshot({
      index: applied,
      term: snapshotTerm,
      conf: this.raw.conf,
      data: bytes(this.state.join(' ')),
    });
    this.storage.compact(logIndex(applied - keep));
  }

  /** The terms of the persisted log, by index. */
  terms(): readonly (Term | undefined)[] {
    const terms: (Term | undefined)[] = [];
    for (let index = this.storage.firstIndex(); index <= this.storage.lastIndex(); index = logIndex(index + 1)) {
      terms.push(this.storage.term(index));
    }
    return terms;
  }

  #apply(ready: Ready): void {
    for (const entry of ready.committedEntries) {
      if (entry.kind === 'normal') {
        if (entry.data.length > 0) this.state.push(textOf(entry.data));
      }
      this.raw.applied(entry.index);
    }
    this.readStates.push(...ready.readStates);
  }

  #start(): RawNode {
    const { conf, index, data } = this.storage.snapshot() as Snapshot;
    this.state = [textOf(data)];
    this.readStates = [];
    const options = { ...this.#limits, id: this.id, random: this.random };
    return new RawNode(options, this.storage, { hardState: this.storage.hardState, conf, applied: index });
  }
}

/** Nodes and the messages between them. The test decides which messages are delivered and which are lost. */
export class Group {
  readonly nodes = new Map<NodeId, TestNode>();
  readonly limits: Partial<RaftLimits>;
  /** The messages on their way, in the order in which they were sent. */
  queue: Message[] = [];
  /** Messages for which this is true are lost when they are sent. */
  loses: (message: Message) => boolean = () => false;

  constructor(limits: Partial<RaftLimits> = {}) {
    this.limits = limits;
  }

  /** Nodes 1 to `count`, all voters of one new group. */
  static of(count: number, limits: Partial<RaftLimits> = {}): Group {
    const group = new Group(limits);
    const voters = Array.from({ length: count }, (_, at) => id(at + 1));
    for (const voter of voters) group.add(TestNode.member(voter, confState(voters), limits));
    return group;
  }

  add(node: TestNode): TestNode {
    this.nodes.set(node.id, node);
    return node;
  }

  node(number: number): TestNode {
    const node = this.nodes.get(id(number));
    if (node === undefined) throw new Error(`no node ${number}`);
    return node;
  }

  send(messages: readonly Message[]): void {
    for (const message of messages) if (!this.loses(message)) this.queue.push(message);
  }

  /** Does all the work that is due on all nodes and delivers all messages, until there are none. */
  settle(): void {
    for (let turn = 0; turn < 10_000; turn += 1) {
      for (const node of this.nodes.values()) this.send(node.settle());
      const message = this.queue.shift();
      if (message === undefined) return;
      expect(this.nodes.get(message.to)?.raw.step(message)).toBe(undefined);
    }
    throw new Error('the group does not settle');
  }

  /** Makes node `number` the leader. Throws if it is not elected. */
  elect(number: number): TestNode {
    const node = this.node(number);
    node.raw.campaign();
    this.settle();
    if (node.status.role !== 'leader') throw new Error(`${number} was not elected`);
    return node;
  }

  /** From now on messages between `numbers` and the others are lost. */
  isolate(...numbers: readonly number[]): void {
    const inside = new Set(numbers.map(id));
    this.loses = ({ from, to }) => inside.has(from) !== inside.has(to);
    this.queue = this.queue.filter((message) => !this.loses(message));
  }

  heal(): void {
    this.loses = () => false;
  }

  tick(times = 1): void {
    for (let count = 0; count < times; count += 1) {
      for (const node of this.nodes.values()) node.tick();
      this.settle();
    }
  }

  leaders(): readonly TestNode[] {
    return [...this.nodes.values()].filter((node) => node.status.role === 'leader');
  }
}

export type { LogIndex };
