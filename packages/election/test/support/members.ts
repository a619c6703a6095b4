import { type Epoch, logPosition, type Random } from '@engram/core';
import { defaultLimits, type Message } from '@engram/raft-ts';
import {
  afterBatch,
  bootstrapState,
  clusterIdOf,
  type Effect,
  Election,
  type ElectionOptions,
  type Member,
  type MemberId,
  memberId,
  NEW_RAFT_STATE,
  type PeerMessage,
  type RaftState,
  receiverOf,
} from '../../index.ts';

/** The list of a member lags behind, or another one does not know of its removal. All other messages are taken. */
export const EXPECTED_FAULTS: ReadonlySet<string> = new Set([
  'a message of a removed member',
  'a message of a member that is not in the list',
]);

export const id = (number: number): MemberId => memberId(BigInt(number));

export function member(number: number, change: Partial<Member> = {}): Member {
  return {
    id: id(number),
    name: `m${number}`,
    peerUrls: [`http://127.0.0.1:${number}`],
    clientUrls: [`http://127.0.0.1:${number}79`],
    isLearner: false,
    ...change,
  };
}

/** A fixed number for all draws: election timeouts are `electionTicks` plus the value that a test sets. */
class FixedRandom implements Random {
  value = 0;
  uint32(): number {
    return this.value;
  }
}

export const ELECTION_TICKS = 5;

export const optionsOf = (self: MemberId, clusterId: bigint): Omit<ElectionOptions, 'random'> => ({
  self,
  clusterId,
  tickMs: 1000,
  limits: { ...defaultLimits, electionTicks: ELECTION_TICKS },
  rules: { strict: true, learnersMax: 1 },
  snapshotEntries: 1000,
  keptEntries: 10,
});

/** A member whose saves are durable at once, unless a test holds them. It records its effects. */
class TestMember {
  readonly id: MemberId;
  readonly random = new FixedRandom();
  readonly #options: Omit<ElectionOptions, 'random'>;
  state: RaftState;
  election: Election;
  /** All effects but sends and saves. */
  seen: Effect[] = [];
  outbox: PeerMessage[] = [];
  holdsSaves = false;
  #held: (Effect & { readonly kind: 'save' }) | undefined;

  constructor(self: MemberId, options: Omit<ElectionOptions, 'random'>, state: RaftState) {
    this.id = self;
    this.#options = options;
    this.state = state;
    this.election = new Election({ ...options, random: this.random }, state);
    this.work();
  }

  get view(): Election['view'] {
    return this.election.view;
  }

  work(): void {
    for (let effects = this.election.takeEffects(); effects.length > 0; effects = this.election.takeEffects()) {
      for (const effect of effects) {
        if (effect.kind === 'send') this.outbox.push(...effect.messages);
        else if (effect.kind === 'save') this.#save(effect);
        else this.seen.push(effect);
      }
    }
  }

  finishSave(): void {
    const held = this.#held;
    if (held === undefined) return;
    this.#held = undefined;
    this.state = afterBatch(this.state, held.batch);
    this.outbox.push(...held.messages);
    this.election.saved();
    this.work();
  }

  crash(): void {
    this.#held = undefined;
    this.outbox = [];
    this.seen = [];
    this.election = new Election({ ...this.#options, random: this.random }, this.state);
    this.work();
  }

  /** Takes the effects in `seen` since the last call. */
  takeSeen(): readonly Effect[] {
    const taken = this.seen;
    this.seen = [];
    return taken;
  }

  /** Takes over if it was told to lead, as a store that has nothing to read. */
  takeOver(position = 1): Epoch | undefined {
    const lead = this.seen.findLast((effect) => effect.kind === 'lead');
    if (lead === undefined) return undefined;
    this.election.announce(lead.epoch, { segment: 1, position: logPosition(position) });
    this.work();
    return lead.epoch;
  }

  #save(effect: Effect & { readonly kind: 'save' }): void {
    this.#held = effect;
    if (!this.holdsSaves) this.finishSave();
  }
}

/** Members and the messages between them. All messages are delivered in order, unless `loses` says otherwise. */
export class Members {
  readonly clusterId: bigint;
  readonly all = new Map<MemberId, TestMember>();
  readonly #change: Partial<ElectionOptions>;
  loses: (message: PeerMessage, from: TestMember) => boolean = () => false;

  constructor(count: number, change: Partial<ElectionOptions> = {}, members: readonly Member[] = membersUpTo(count)) {
    this.#change = change;
    this.clusterId = clusterIdOf(members.map((one) => one.id));
    for (const one of members) this.add(one.id, bootstrapState(this.clusterId, members));
    for (const one of this.all.values()) {
      for (const other of this.all.keys()) if (other !== one.id) one.election.peerConnected(other);
    }
  }

  get(number: number): TestMember {
    const found = this.all.get(id(number));
    if (found === undefined) throw new Error(`no member ${number}`);
    return found;
  }

  add(self: MemberId, state = NEW_RAFT_STATE): TestMember {
    const isGivenMember = (other: MemberId): boolean => this.all.has(other);
    const options = { ...optionsOf(self, this.clusterId), isGivenMember, ...this.#change };
    const added = new TestMember(self, options, state);
    this.all.set(self, added);
    return added;
  }

  settle(): void {
    for (let turn = 0; turn < 10_000; turn += 1) {
      let moved = false;
      for (const from of this.all.values()) {
        from.work();
        const sent = from.outbox.splice(0);
        for (const message of sent) {
          moved = true;
          const to = this.all.get(receiverOf(message));
          if (to === undefined || this.loses(message, from)) continue;
          const fault = to.election.receive(message, { member: from.id, dialed: true });
          if (fault !== undefined && !EXPECTED_FAULTS.has(fault))
            throw new Error(`${message.kind} of ${from.id} to ${to.id}: ${fault}`);
          to.work();
        }
      }
      if (!moved) return;
    }
    throw new Error('the members do not settle');
  }

  tick(times = 1, ...numbers: readonly number[]): void {
    const ticking = numbers.length === 0 ? [...this.all.values()] : numbers.map((number) => this.get(number));
    for (let count = 0; count < times; count += 1) {
      for (const one of ticking) one.election.tick();
      this.settle();
    }
  }

  /** Makes member `number` the leader, and lets its store take over. */
  elect(number: number): TestMember {
    const one = this.get(number);
    for (const other of this.all.values()) other.random.value = other === one ? 0 : ELECTION_TICKS - 1;
    for (const other of this.all.values()) other.crash();
    for (const other of this.all.values()) {
      for (const peer of this.all.keys()) if (peer !== other.id) other.election.peerConnected(peer);
    }
    this.tick(ELECTION_TICKS);
    if (one.takeOver() === undefined) throw new Error(`${number} does not lead`);
    this.settle();
    return one;
  }

  isolate(...numbers: readonly number[]): void {
    const inside = new Set(numbers.map(id));
    this.loses = (message, from) => inside.has(from.id) !== inside.has(receiverOf(message));
  }

  heal(): void {
    this.loses = () => false;
  }
}

const membersUpTo = (count: number): readonly Member[] => Array.from({ length: count }, (_, at) => member(at + 1));

export const raftOf = (message: PeerMessage): Message | undefined =>
  message.kind === 'raft' ? message.message : undefined;
