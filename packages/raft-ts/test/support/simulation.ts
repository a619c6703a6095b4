import { expect } from 'vitest';
import {
  type ConfChange,
  confState,
  defaultLimits,
  isMember,
  isVoter,
  type LogIndex,
  logIndex,
  MemoryLog,
  type Message,
  NEW_HARD_STATE,
  NO_CONF,
  NO_INDEX,
  NO_TERM,
  type NodeId,
  type RaftLimits,
  type ReadState,
  term,
  type Term,
  decodeMessage,
  encodeMessage,
} from '@engram/raft-ts';
import { Prng } from '@engram/sim';
import { bytes, id, textOf } from './group.ts';
import { SimNode, type SimNodeHooks } from './sim-node.ts';

export interface SimulationOptions {
  readonly seed: number;
  readonly voters: number;
  readonly limits?: Partial<RaftLimits>;
  /** Nodes join, leave, are promoted and demoted. */
  readonly reconfigures: boolean;
}

interface Weighted {
  readonly weight: number;
  readonly action: { readonly ofNode: boolean; readonly run: (node: SimNode) => void };
}

const BEGIN = { index: logIndex(1), term: term(1) };
const HISTORY_BEGIN = 7;
/** Messages, and reads, that are still to come. */
const LATE_MAX = 40;

/** Small bounds, so that runs reach all of them. */
const tightLimits: RaftLimits = {
  ...defaultLimits,
  electionTicks: 6,
  heartbeatTicks: 2,
  messageBytesMax: 120,
  inflightMessagesMax: 3,
  inflightBytesMax: 400,
  uncommittedBytesMax: 60,
  applyingBytesMax: 150,
  waitingReadsMax: 12,
};

/**
 * A group under one seed. The seed decides which node runs, which message arrives, once, twice or never, when a disk
 * confirms, which node crashes and which is cut off. Every step checks the promises of Raft (Raft paper, figure 3).
 */
export class Simulation implements SimNodeHooks {
  readonly prng: Prng;
  readonly #options: SimulationOptions;
  readonly #limits: RaftLimits;
  readonly nodes = new Map<NodeId, SimNode>();
  #network: Message[] = [];
  /** Copies that come much later. */
  readonly #late: Message[] = [];
  #cut: ReadonlySet<NodeId> = new Set();
  #oneWay = false;
  readonly #leaders = new Map<Term, NodeId>();
  /** By index: the history of the first node that applied it. */
  readonly #histories: number[] = [];
  /** By index: the term of the entry that is committed there. */
  readonly #committed: Term[] = [];
  readonly #reads = new Map<string, { readonly node: NodeId; readonly atLeast: LogIndex }>();
  /** Reads that nodes have asked for in messages to their leader: see `RawNode.confirmsWith`. */
  readonly #witnessed: { readonly witness: NodeId; readonly term: Term; readonly atLeast: LogIndex }[] = [];
  #proposed = 0;
  #asked = 0;
  readonly #actions: readonly Weighted[];
  readonly #weightSum: number;
  readonly #lossRate: number;
  readonly #orderRate: number;
  readonly #haste: number;
  readonly #lateRate: number;
  readonly counts = {
    elections: 0,
    applied: 0,
    reads: 0,
    crashes: 0,
    snapshots: 0,
    changes: 0,
    transfers: 0,
    witnessed: 0,
  };

  constructor(options: SimulationOptions) {
    this.#options = options;
    this.#limits = { ...tightLimits, ...options.limits };
    this.prng = new Prng(options.seed);
    const voters = Array.from({ length: options.voters }, (_, at) => id(at + 1));
    const conf = confState(voters);
    for (const voter of voters) {
      const log = new MemoryLog({ ...BEGIN, conf, data: bytes(String(HISTORY_BEGIN)) }, [], {
        ...NEW_HARD_STATE,
        term: BEGIN.term,
        commit: BEGIN.index,
      });
      this.#add(voter, log);
    }
    this.#actions = this.#mixture();
    this.#weightSum = this.#actions.reduce((sum, { weight }) => sum + weight, 0);
    this.#lossRate = this.prng.pick([0, 0.02, 0.05, 0.3]);
    this.#orderRate = this.prng.pick([1, 0.9, 0.7, 0.2]);
    this.#haste = this.prng.pick([0, 0.5, 0.9]);
    this.#lateRate = this.prng.pick([0, 0.01, 0.05]);
  }

  run(steps: number): void {
    for (let step = 0; step < steps; step += 1) {
      this.#step();
      this.#check();
      if (step % 64 === 0) this.#checkLogsMatch();
    }
    this.#checkLogsMatch();
  }

  /** Starts all nodes and delivers all messages. Soon one node leads, and all nodes apply what it takes. */
  heal(): void {
    this.#cut = new Set();
    for (const node of this.nodes.values()) if (!node.up) node.restart();
    const deadline = 60 * this.#limits.electionTicks;
    let goal: { readonly term: Term; readonly index: LogIndex } | undefined;
    for (let tick = 0; tick < deadline; tick += 1) {
      for (const node of this.nodes.values()) node.raw.tick();
      this.#settle();
      const leader = this.#leader();
      if (leader === undefined) continue;
      const { term: leaderTerm } = leader.raw.status();
      if (goal === undefined || goal.term !== leaderTerm) {
        const outcome = leader.raw.propose(bytes('healed'));
        if (outcome.kind === 'appended') goal = { term: outcome.term, index: outcome.first };
        this.#settle();
      }
      if (goal !== undefined && this.#membersApplied(leader, goal.index)) return;
    }
    const states = [...this.nodes.values()].map((node) => {
      const { role, term: own, commit, applied, lastIndex, conf } = node.raw.status();
      return `${node.id}: ${role} term ${own} commit ${commit} applied ${applied} last ${lastIndex} of ${conf.voters}|${conf.learners}`;
    });
    throw new Error(`no progress after the network healed\n${states.join('\n')}`);
  }

  applied(_node: SimNode, index: LogIndex, history: number): void {
    const before = this.#histories[index];
    if (before === undefined) this.#histories[index] = history;
    else expect(history, `two nodes applied different entries up to ${index}`).toBe(before);
    this.counts.applied += 1;
  }

  read(node: SimNode, state: ReadState): void {
    const context = textOf(state.context);
    const asked = this.#reads.get(context);
    // A second copy of an answer.
    if (asked === undefined || asked.node !== node.id) return;
    expect(state.index, `read ${context} on ${node.id} is stale`).toBeGreaterThanOrEqual(asked.atLeast);
    this.counts.reads += 1;
  }

  send(messages: readonly Message[]): void {
    for (const message of messages) {
      if (message.type === 'snapshot') this.counts.snapshots += 1;
      // Encoded and decoded, so that nodes share no objects.
      this.#network.push(decodeMessage(encodeMessage(message)));
    }
  }

  #add(self: NodeId, log: MemoryLog): void {
    this.nodes.set(self, new SimNode(self, log, this.prng, this.#limits, 0.02, this));
  }

  #step(): void {
    const node = this.prng.pick([...this.nodes.values()]);
    let dice = this.prng.below(this.#weightSum);
    for (const { action, weight } of this.#actions) {
      dice -= weight;
      if (dice >= 0) continue;
      // A node that is down can only restart. Actions that are not of one node happen in any case.
      if (node.up || !action.ofNode) action.run(node);
      else if (this.prng.chance(0.1)) node.restart();
      return;
    }
  }

  /**
   * The possible actions and their weights. Each run has its own mixture: some have very many crashes, some deliver hardly
   * any message. So defects that need many actions of one kind show in one of the runs.
   */
  #mixture(): readonly Weighted[] {
    const { prng } = this;
    const anyNode = [...this.nodes.keys()];
    const of = (weight: number, run: (node: SimNode) => void): Weighted => ({ weight, action: { ofNode: true, run } });
    const among = (weight: number, run: (node: SimNode) => void): Weighted => ({
      weight,
      action: { ofNode: false, run },
    });
    const usual = [
      among(350, () => this.#deliver()),
      of(170, (node) => node.process()),
      of(100, (node) => node.finishPersist()),
      of(100, (node) => node.applyOne()),
      of(130, (node) => node.raw.tick()),
      of(20, (node) => node.load()),
    ];
    const rare = [
      among(2, (node) => this.#crashOrRestart(node)),
      among(4, () => this.#partition()),
      of(40, (node) => this.#propose(node)),
      of(120, (node) => this.#askRead(node)),
      of(120, (node) => this.#askAsWitness(node)),
      among(300, () => this.#confirmWitnessed()),
      of(5, (node) => this.#transfer(node)),
      of(4, (node) => node.raw.forgetLeader()),
      of(5, (node) => node.raw.campaign()),
      of(1, (node) => node.raw.resign()),
      of(10, (node) => node.compact(prng.below(4))),
      of(7, (node) => node.raw.reportUnreachable(prng.pick(anyNode))),
      of(this.#options.reconfigures ? 10 : 0, (node) => this.#reconfigure(node)),
    ];
    const scaled = (list: readonly Weighted[], factors: readonly number[]): readonly Weighted[] =>
      list.map(({ action, weight }) => ({ action, weight: Math.ceil(weight * prng.pick(factors)) }));
    return [...scaled(usual, [0.3, 1, 1, 1, 2]), ...scaled(rare, [0, 0.3, 1, 1, 3, 8])];
  }

  #deliver(): void {
    const { prng } = this;
    if (this.#late.length > 0 && prng.chance(this.#lateRate)) {
      this.#network.unshift(...this.#late.splice(prng.below(this.#late.length), 1));
    }
    if (this.#network.length === 0) return;
    // Mostly in order: a network that shuffles all messages hides defects that need messages in order.
    const at = prng.chance(this.#orderRate) ? 0 : prng.below(this.#network.length);
    const message = this.#network[at]!;
    if (!prng.chance(0.03)) this.#network.splice(at, 1);
    if (this.#late.length < LATE_MAX && prng.chance(2 * this.#lateRate)) this.#late.push(message);
    if (this.#network.length > 400) this.#network.splice(prng.below(200), 100);
    const receiver = this.nodes.get(message.to);
    const lost = prng.chance(this.#lossRate) || this.#isCut(message) || receiver === undefined || !receiver.up;
    if (message.type === 'snapshot') this.nodes.get(message.from)?.raw.reportSnapshot(message.to, !lost);
    if (lost) return;
    this.#hand(receiver, message);
    if (prng.chance(this.#haste)) this.#hurry(receiver);
  }

  /** Nodes that keep the rules never send each other a message with a fault. */
  #hand(receiver: SimNode, message: Message): void {
    const fault = receiver.raw.step(message);
    if (fault !== undefined) throw new Error(`${message.type} of ${message.from} to ${message.to}: ${fault}`);
  }

  /** A node that is not slow does the work for a message at once. */
  #hurry(node: SimNode): void {
    node.process();
    if (this.prng.chance(this.#haste)) node.finishPersist();
    node.process();
    node.applyOne();
    node.applyOne();
  }

  #isCut({ from, to }: Message): boolean {
    if (this.#cut.has(from) === this.#cut.has(to)) return false;
    return this.#oneWay ? this.#cut.has(from) : true;
  }

  #partition(): void {
    const { prng } = this;
    this.#oneWay = prng.chance(0.3);
    this.#cut = prng.chance(0.6) ? new Set() : new Set([...this.nodes.keys()].filter(() => prng.chance(0.4)));
  }

  #crashOrRestart(node: SimNode): void {
    if (!node.up) {
      node.restart();
      return;
    }
    this.counts.crashes += 1;
    node.crash();
  }

  #propose(node: SimNode): void {
    this.#proposed += 1;
    node.raw.propose(bytes(`value ${this.#proposed}`.padEnd(8 + this.prng.below(30), '.')));
  }

  #askRead(node: SimNode): void {
    this.#asked += 1;
    const context = `${node.id}/${this.#asked}`;
    this.#reads.set(context, { node: node.id, atLeast: this.#highestCommit });
    node.raw.readIndex(bytes(context));
  }

  /** What a read that begins now must show. */
  get #highestCommit(): LogIndex {
    let highest = NO_INDEX;
    for (const { raw } of this.nodes.values()) if (raw.commitIndex > highest) highest = raw.commitIndex;
    return highest;
  }

  #askAsWitness({ id: witness, raw }: SimNode): void {
    this.#witnessed.push({ witness, term: raw.term, atLeast: this.#highestCommit });
    if (this.#witnessed.length > LATE_MAX) this.#witnessed.splice(this.prng.below(LATE_MAX), 1);
  }

  /** The message of a witness arrives, however late. */
  #confirmWitnessed(): void {
    if (this.#witnessed.length === 0) return;
    const { witness, term: seen, atLeast } = this.prng.pick(this.#witnessed);
    for (const { id: self, raw, up } of this.nodes.values()) {
      if (!up || self === witness || !raw.confirmsWith(witness, seen)) continue;
      expect(raw.commitIndex, `a read that ${witness} asked for is stale on ${self}`).toBeGreaterThanOrEqual(atLeast);
      this.counts.witnessed += 1;
    }
  }

  #transfer(node: SimNode): void {
    const outcome = node.raw.transferLeader(this.prng.pick([...this.nodes.keys()]));
    if (outcome.kind === 'started') this.counts.transfers += 1;
  }

  #reconfigure(node: SimNode): void {
    const { prng } = this;
    const target = id(1 + prng.below(this.#options.voters + 2));
    const kind = prng.pick<ConfChange['kind']>(['add-voter', 'add-learner', 'remove', 'update']);
    const outcome = node.raw.proposeConfChange({ kind, node: target, context: bytes('') });
    if (outcome.kind === 'dropped') return;
    this.counts.changes += 1;
    if (this.nodes.has(target)) return;
    this.#add(
      target,
      new MemoryLog({ index: NO_INDEX, term: NO_TERM, conf: NO_CONF, data: bytes(String(HISTORY_BEGIN)) }),
    );
  }

  #settle(): void {
    for (let turn = 0; turn < 50_000; turn += 1) {
      for (const node of this.nodes.values()) {
        while (node.raw.hasReady || node.persists) {
          node.process();
          node.finishPersist();
        }
        for (let entry = 0; entry < 20; entry += 1) node.applyOne();
        node.load();
      }
      this.#check();
      const message = this.#network.shift();
      if (message === undefined) return;
      if (message.type === 'snapshot') this.nodes.get(message.from)?.raw.reportSnapshot(message.to, true);
      const receiver = this.nodes.get(message.to);
      if (receiver !== undefined) this.#hand(receiver, message);
    }
    throw new Error('the group does not settle');
  }

  /** Of the nodes that lead, the one in the highest term. */
  #leader(): SimNode | undefined {
    let found: SimNode | undefined;
    for (const node of this.nodes.values()) {
      const status = node.raw.status();
      if (status.role === 'leader' && (found === undefined || status.term > found.raw.status().term)) found = node;
    }
    return found;
  }

  #membersApplied(leader: SimNode, index: LogIndex): boolean {
    const { conf } = leader.raw;
    return [...this.nodes.values()].every((node) => !isMember(conf, node.id) || node.raw.status().applied >= index);
  }

  #check(): void {
    for (const node of this.nodes.values()) {
      if (!node.up) continue;
      const { role, term: own, commit, conf } = node.raw.status();
      this.#checkCommitted(node, commit);
      if (role !== 'leader') continue;
      const other = this.#leaders.get(own);
      if (other === undefined) {
        this.#leaders.set(own, node.id);
        this.counts.elections += 1;
        expect(isVoter(conf, node.id), `${node.id} leads and is no voter`).toBe(true);
        this.#checkComplete(node);
      } else expect(node.id, `two leaders in term ${own}`).toBe(other);
    }
  }

  /** Checks that all nodes have the same committed entries, as far as their persisted logs show. */
  #checkCommitted(node: SimNode, commit: LogIndex): void {
    for (let index = commit; index > NO_INDEX; index = logIndex(index - 1)) {
      const own = node.log.term(index);
      if (own === undefined) continue;
      const known = this.#committed[index];
      if (known === undefined) {
        // The node's persisted entry may be about to be replaced, but an applied entry is final.
        if (index <= node.raw.status().applied) this.#committed[index] = own;
      } else if (index <= node.raw.status().applied) {
        expect(own, `${node.id} has another entry at ${index}, which is committed`).toBe(known);
        return;
      }
    }
  }

  /** Checks leader completeness: an elected node has every committed entry. */
  #checkComplete(leader: SimNode): void {
    for (let index = leader.log.firstIndex(); index < this.#committed.length; index = logIndex(index + 1)) {
      const known = this.#committed[index];
      if (known === undefined) continue;
      expect(leader.log.term(index), `leader ${leader.id} lacks committed entry ${index}`).toBe(known);
    }
  }

  /** Checks log matching: logs that agree at one place agree before it. */
  #checkLogsMatch(): void {
    const logs = [...this.nodes.values()].map((node) => node.log);
    for (const one of logs) {
      for (const other of logs) {
        let agreed = false;
        const last = Math.min(one.lastIndex(), other.lastIndex());
        for (let index = last; index >= Math.max(one.firstIndex(), other.firstIndex()); index -= 1) {
          const same = one.term(logIndex(index)) === other.term(logIndex(index));
          if (agreed) expect(same, `logs that agree behind ${index} differ there`).toBe(true);
          agreed ||= same;
        }
      }
    }
  }
}
