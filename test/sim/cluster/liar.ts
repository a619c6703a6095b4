import type { LogPosition } from '@engram/core';
import { type PeerCaller, PeerError, type PeerService } from '@engram/member';
import { peerpb } from '@engram/member/testing';
import { Prng, type SimProcess } from '@engram/sim';
import type { LogBatch } from '@engram/storage';
import { expectThat, Finding } from '../judge/finding.ts';
import type { RequestedStep } from '../world/request-steps.ts';
import { answerLie, callLie } from './call-lies.ts';
import type { MemberLife } from './member-life.ts';
import type { MemberNode } from './member-node.ts';
import type { MembersWorld } from './members-world.ts';
import { raftLie } from './raft-lies.ts';

/** Lies of one member. */
export const lieWeights = {
  'lie-in-raft': 4,
  'lie-in-call': 3,
  'lie-in-answer': 1,
  'lie-of-follower': 1,
  'lie-in-stream': 1,
} as const;

export type LieKind = keyof typeof lieWeights;

export const isLie = (kind: string): kind is LieKind => kind in lieWeights;

/** A member counts its writes in lives. These are beyond those that it draws. */
const FIRST_LIFE = 2 ** 20;
const LIVES = 3;
const WRITES_OF_A_LIFE = 2 ** 32;
const UNREADABLE = Uint8Array.of(255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255);
/** Positions to follow from, beside those that the log has. */
const POSITIONS = [0, 1, 2, 2 ** 31, Number.MAX_SAFE_INTEGER] as const;

/** The member that lies within its certificate: it speaks for itself alone, and says what it wants. */
export class Liar {
  readonly id: bigint;
  /** It also claims elections that it has not won. */
  readonly claims: boolean;
  /** Calls that it has made and that have no answer. */
  readonly underWay = new Set<string>();
  /** The next calls to it are answered with lies. */
  falseAnswers = 0;
  /** The next batches of its stream are lies. Others follow it only while it leads. */
  falseBatches = 0;
  random = new Prng(0);
  #lies = 0;

  constructor(id: bigint, claims: boolean) {
    this.id = id;
    this.claims = claims;
  }

  next(): number {
    this.#lies += 1;
    return this.#lies;
  }

  /** The service of its process: the real one, but for what it lies about. */
  serviceOf(real: PeerService): PeerService {
    return {
      admission: (member) => real.admission(member),
      message: (bytes, speaker) => real.message(bytes, speaker),
      connected: (member) => real.connected(member),
      disconnected: (member) => real.disconnected(member),
      gone: (member) => real.gone(member),
      call: (request, caller) => this.#call(real, request, caller),
      follow: (from, signal) => this.#follow(real, from, signal),
    };
  }

  /** What is asked of a leader is asked because it is believed to lead. Then it answers with what nobody can read. */
  #call(real: PeerService, request: Uint8Array, caller: PeerCaller): Promise<Uint8Array> {
    if (this.falseAnswers === 0) return real.call(request, caller);
    this.falseAnswers -= 1;
    const { applied, hashKv } = peerpb.decodeRequest(request);
    const asksAnybody = applied !== undefined || hashKv !== undefined;
    return Promise.resolve(asksAnybody ? answerLie(this.random) : UNREADABLE.slice());
  }

  /** Batches again, with a gap, or with nothing in them. What is in a batch is compared by its chain: see `tikv`. */
  async *#follow(real: PeerService, from: LogPosition, signal: AbortSignal): AsyncGenerator<LogBatch> {
    for await (const batch of real.follow(from, signal)) {
      if (this.falseBatches > 0) {
        this.falseBatches -= 1;
        const { first, records, ...rest } = batch;
        const moved = this.random.pick([-1, 1, 1000]);
        yield this.random.pick<LogBatch>([
          batch,
          { ...rest, first, records: [] },
          { ...rest, first: (first + moved) as LogPosition, records },
        ]);
      }
      yield batch;
    }
  }
}

/** One lie, to one other member. */
export class LieStep {
  readonly #world: MembersWorld;
  readonly #liar: Liar;
  readonly #life: MemberLife;
  readonly #target: MemberNode;
  readonly #random: Prng;
  readonly #name: string;

  private constructor(world: MembersWorld, liar: Liar, life: MemberLife, target: MemberNode, random: Prng) {
    this.#world = world;
    this.#liar = liar;
    this.#life = life;
    this.#target = target;
    this.#random = random;
    this.#name = `lie ${liar.next()}`;
  }

  static run(world: MembersWorld, step: RequestedStep, kind: LieKind): void {
    const { liar } = world;
    if (world.ending || liar === undefined) return;
    const node = world.nodes.find(({ id }) => id === liar.id);
    const life = node?.alive;
    if (node === undefined || life === undefined || life.process.paused) return;
    world.tell(() => `#${step.id} ${kind}: ${node.name} lies`);
    const random = new Prng(step.seed);
    const others = world.nodes.filter((one) => one !== node && one.alive !== undefined);
    if (others.length === 0) return;
    for (let left = random.between(1, 4); left > 0; left -= 1)
      new LieStep(world, liar, life, random.pick(others), random.fork(`lie ${left}`))[kind]();
  }

  'lie-in-raft'(): void {
    const claims = this.#liar.claims && this.#random.chance(0.2);
    if (claims) this.#world.disturb();
    this.#arrive((receiver, member) => {
      const { cluster } = receiver.member;
      const { term, leaderId: leader, members } = cluster;
      // Whoever follows the liar, or is none of its group any more, believes it.
      if (leader === this.#liar.id || !members.some(({ id }) => id === this.#liar.id)) return;
      const votes = members.some(({ id, isLearner }) => id === member.id && !isLearner);
      const line = { from: this.#liar.id, to: member.id, other: this.#other(member.id), term, leader, votes };
      const lie = raftLie(this.#random, line, claims);
      if (lie === undefined) return;
      const { what, bytes, dialed, refused, termMax } = lie;
      const fault = receiver.service.message(bytes, { member: this.#liar.id, dialed });
      this.#tell(`${what}: ${fault ?? 'taken'}`);
      // One that is stopping reads no message any more.
      expectThat(!refused || fault !== undefined || member.stopping, 'lie', () => `m${member.id} has taken ${what}`);
      const now = cluster.term;
      expectThat(now <= termMax, 'lie', () => `${what} moves m${member.id} from term ${term} to ${now}`);
      expectThat(
        fault === undefined || now === term,
        'lie',
        () => `${what} was refused, and moves m${member.id} from term ${term} to ${now}`,
      );
      if (fault === undefined) return;
      // The transport ends the stream that it came on.
      const [from, to] = dialed ? [member, this.#life] : [this.#life, member];
      from.process.after(0, () => from.links.reset(to.id));
    });
  }

  'lie-in-call'(): void {
    this.#arrive((receiver, member) => {
      if (receiver.member.cluster.leaderId === this.#liar.id) return;
      const epoch = receiver.member.stats.leadsIn ?? 1;
      const number = this.#liar.next();
      const sequence = (FIRST_LIFE + (number % LIVES)) * WRITES_OF_A_LIFE + number;
      const line = { from: this.#liar.id, other: this.#other(member.id), epoch, sequence, name: this.#name };
      const { what, request, txn, error } = callLie(this.#random, line);
      if (txn !== undefined) {
        const { judge } = this.#world;
        const from = judge.acknowledged;
        judge.writes.unknown({
          what: `${this.#name} ${what}`,
          from,
          startMs: this.#world.nowMs,
          explains: (write) => judge.writes.txnExplains(txn, write, from),
        });
      }
      const times = txn === undefined ? 1 : this.#random.between(1, 3);
      for (let left = times; left > 0; left -= 1) this.#call(receiver.service, member.process, what, request, error);
    });
  }

  'lie-in-answer'(): void {
    this.#liar.random = this.#random;
    this.#liar.falseAnswers = this.#random.between(1, 5);
  }

  'lie-in-stream'(): void {
    this.#liar.random = this.#random;
    this.#liar.falseBatches = this.#random.between(1, 3);
  }

  /** It follows, as nobody does: from anywhere, without reading, or giving up at once. */
  'lie-of-follower'(): void {
    const { next } = this.#world.history;
    const from = this.#random.pick([...POSITIONS, next, Math.max(1, next - 3), next + 7]) as LogPosition;
    this.#arrive((receiver, { process }) => {
      const gone = new AbortController();
      const patienceMs = this.#random.pick([0, 10, 3000]);
      process.after(patienceMs, () => gone.abort());
      void this.#read(receiver.service.follow(from, gone.signal), this.#random.below(4), process);
    });
  }

  async #read(batches: AsyncIterable<LogBatch>, most: number, process: SimProcess): Promise<void> {
    try {
      let left = most;
      for await (const _batch of batches) {
        left -= 1;
        if (left < 0) return;
      }
    } catch (error) {
      if (process.alive && !(error instanceof PeerError)) this.#broken('a stream', error);
    }
  }

  /** A call has one answer, and never none, whatever it says. */
  #call(service: PeerService, process: SimProcess, what: string, request: Uint8Array, expected?: RegExp): void {
    const nobodyWaits = new AbortController();
    if (this.#random.chance(0.3))
      process.after(this.#random.pick([0, 1, 500]), () => nobodyWaits.abort(new PeerError('lost', 'nobody waits')));
    const call = `${this.#name}: ${what} (${this.#liar.next()})`;
    const { underWay } = this.#liar;
    underWay.add(call);
    process.atEnd(() => underWay.delete(call));
    service.call(request, { member: this.#liar.id, signal: nobodyWaits.signal }).then(
      (bytes) => {
        if (!underWay.delete(call)) return;
        this.#world.guarded(() => {
          const { error } = peerpb.decodeAnswer(bytes);
          this.#tell(`${what}: ${error === '' ? 'done' : error}`);
          expectThat(expected?.test(error) !== false, 'lie', () => `${what} is answered with "${error}"`);
        });
      },
      (error: unknown) => {
        if (underWay.delete(call)) this.#broken(what, error);
      },
    );
  }

  /** Calls `lie` in the process of the target, when the message arrives there. */
  #arrive(lie: (receiver: NonNullable<MemberLife['member']>, member: MemberLife) => void): void {
    this.#world.network.sendSurely(this.#life.process, this.#target.host, (process) => {
      const member = this.#target.alive;
      const receiver = member?.member;
      if (member === undefined || receiver === undefined || member.process !== process || this.#world.ending) return;
      try {
        lie(receiver, member);
      } catch (error) {
        if (error instanceof Finding) this.#world.fail(error);
        else this.#broken('a message', error);
      }
    });
  }

  #other(than: bigint): bigint {
    const ids = this.#world.nodes.map(({ id }) => id).filter((id) => id !== than && id !== this.#liar.id);
    return ids.length === 0 ? 0x777n : this.#random.pick(ids);
  }

  #tell(text: string): void {
    this.#world.tell(() => `  ${this.#name} to ${this.#target.name}: ${text}`);
  }

  #broken(what: string, error: unknown): void {
    this.#world.fail(new Finding('broken', `${what} of a liar is thrown: ${String(error)}`, { cause: error }));
  }
}
