import type { Prng } from '@engram/sim';
import { EtcdClient, EtcdError } from '../../test/support/etcd-client.ts';
import { type Asked, BrokenPromise, type History } from './history.ts';
import { type Answer, send, type State, type Step, type Write } from './writes.ts';

const CLIENTS = 3;
const WRITERS = 12;
const GROUPS = ['/a/', '/b/', '/c/', '/d/', '/e/'] as const;
const KEYS_OF_A_GROUP = 12;
/** Longer than any run: the keys of such a lease are deleted only by a revoke. */
const LONG_TTL_S = 36_000;
const COMPACT_CHANCE = 0.4;

export interface LeaseTerms {
  readonly ttl: number;
  /** Whether the store has confirmed the grant. */
  granted: boolean;
  /** Whether a client has requested its end, or it may expire. */
  mayEnd: boolean;
  /** Whether the store has confirmed the revoke. */
  revoked: boolean;
}

/**
 * Clients that write continuously until the store is gone, and record their requests and the answers. One object serves
 * a whole run. `runRound` covers the time up to one crash.
 */
export class Load {
  readonly leases = new Map<bigint, LeaseTerms>();
  /** Requested compactions, acknowledged or not. */
  readonly compactionsAsked = new Set<number>();
  compactionAcknowledged = 0;
  writesAcknowledged = 0;
  readonly #prng: Prng;
  #nextWrite = 1;
  #nextLease = 1n;

  constructor(prng: Prng) {
    this.#prng = prng;
  }

  /**
   * Writes until every client has lost the store. Calls `onFirst` at the first acknowledgement. Rejects with
   * BrokenPromise if an answer alone proves a violation.
   */
  async runRound(endpoint: string, history: History, onFirst: () => void): Promise<Asked> {
    const round = new Round(history, onFirst);
    const clients = Array.from({ length: CLIENTS }, () => new EtcdClient(endpoint));
    try {
      const client = (at: number): EtcdClient => clients[at % CLIENTS]!;
      const tasks = Array.from({ length: WRITERS }, (_, at) => this.#write(client(at), round));
      tasks.push(this.#keepLeases(client(0), round));
      if (this.#prng.chance(COMPACT_CHANCE)) tasks.push(this.#compact(client(1), round, history));
      await Promise.all(tasks);
    } finally {
      for (const client of clients) client.close();
    }
    // A lease that may end deletes its keys at a revision that is in no answer.
    for (const [id, { mayEnd }] of this.leases) if (mayEnd) round.open.push({ kind: 'lease-end', lease: id });
    return round;
  }

  /** Grants a lease that expires by itself, and puts keys with it. Resolves when the store has acknowledged all of it. */
  async attachShortLease(client: EtcdClient, ttl: number, history: History): Promise<{ id: bigint; asked: Asked }> {
    const round = new Round(history, () => {});
    const id = this.#newLease(ttl, true);
    await client.leaseGrant({ ID: id, TTL: ttl });
    this.leases.get(id)!.granted = true;
    for (let at = 0; at < 3; at += 1) {
      const step: Step = { kind: 'put', key: `/short/${id}/${at}`, value: this.#value(), lease: id };
      round.acknowledge({ kind: 'step', step }, await send(client, { kind: 'step', step }));
    }
    round.open.push({ kind: 'lease-end', lease: id });
    return { id, asked: round };
  }

  async #write(client: EtcdClient, round: Round): Promise<void> {
    for (;;) {
      const write = this.#newWrite(round);
      const answer = await attempt(round, write, () => send(client, write));
      if (answer === 'lost') return;
      if (answer === 'refused') continue;
      this.writesAcknowledged += 1;
      round.acknowledge(write, answer);
    }
  }

  async #keepLeases(client: EtcdClient, round: Round): Promise<void> {
    for (;;) {
      const live = [...this.leases].filter(([, lease]) => lease.granted && !lease.mayEnd);
      const oldest = live[0];
      if (oldest === undefined || live.length < 4) {
        const id = this.#newLease(LONG_TTL_S + this.#prng.below(3600), false);
        const lease = this.leases.get(id)!;
        const answer = await attempt(round, undefined, () => client.leaseGrant({ ID: id, TTL: lease.ttl }));
        if (answer === 'lost') return;
        lease.granted = true;
      } else if (this.#prng.chance(0.3)) {
        const [id, lease] = oldest;
        lease.mayEnd = true;
        const answer = await attempt(round, undefined, () => client.leaseRevoke({ ID: id }));
        if (answer === 'lost') return;
        if (answer === 'refused') throw new BrokenPromise(`lease ${id} was acknowledged, and cannot be revoked`);
        lease.revoked = true;
      } else {
        const answer = await attempt(round, undefined, () => client.leaseKeepAliveOnce(oldest[0]));
        if (answer === 'lost') return;
        if (answer !== 'refused' && answer.TTL !== oldest[1].ttl) {
          throw new BrokenPromise(`lease ${oldest[0]} was kept alive for ${answer.TTL} s of ${oldest[1].ttl}`);
        }
      }
    }
  }

  /**
   * Compacts only revisions that were proven before this round: an open write below the compaction could no longer be
   * found.
   */
  async #compact(client: EtcdClient, round: Round, history: History): Promise<void> {
    const span = history.revision - history.compacted;
    if (span < 2) return;
    for (let wait = this.#prng.below(60); wait > 0; wait -= 1) {
      if ((await attempt(round, undefined, () => client.status())) === 'lost') return;
    }
    const revision = history.compacted + 1 + this.#prng.below(span);
    this.compactionsAsked.add(revision);
    const physical = this.#prng.chance(0.5);
    const answer = await attempt(round, undefined, () => client.compact({ revision, physical }));
    if (answer !== 'lost' && answer !== 'refused') this.compactionAcknowledged = revision;
  }

  #newLease(ttl: number, mayEnd: boolean): bigint {
    const id = this.#nextLease;
    this.#nextLease += 1n;
    this.leases.set(id, { ttl, granted: false, mayEnd, revoked: false });
    return id;
  }

  #newWrite(round: Round): Write {
    const dice = this.#prng.below(100);
    if (dice < 50) return { kind: 'step', step: this.#put(this.#key()) };
    if (dice < 64) return { kind: 'step', step: { kind: 'delete', key: this.#key() } };
    if (dice < 68) return { kind: 'step', step: this.#deleteGroup(this.#prng.pick(GROUPS)) };
    const guarded = this.#key();
    const modRevision = this.#prng.chance(0.3) ? 0 : round.lastSeen(guarded);
    return { kind: 'txn', guard: { key: guarded, modRevision }, success: this.#steps(), failure: this.#steps() };
  }

  /** Steps with distinct keys. No key is in a range that the same branch deletes. */
  #steps(): readonly Step[] {
    const deleted = this.#prng.chance(0.1) ? this.#prng.pick(GROUPS) : undefined;
    const keys = new Set<string>();
    for (let count = 1 + this.#prng.below(4); count > 0; count -= 1) keys.add(this.#key());
    const steps: Step[] = [...keys]
      .filter((key) => deleted === undefined || !key.startsWith(deleted))
      .map((key) => (this.#prng.chance(0.25) ? { kind: 'delete', key } : this.#put(key)));
    return deleted === undefined ? steps : [...steps, this.#deleteGroup(deleted)];
  }

  #deleteGroup(group: string): Step {
    return { kind: 'delete', key: group, rangeEnd: `${group.slice(0, -1)}0` };
  }

  #put(key: string): Step {
    const live = [...this.leases].filter(([, lease]) => lease.granted && !lease.mayEnd);
    const lease = live.length > 0 && this.#prng.chance(0.2) ? this.#prng.pick(live)[0] : 0n;
    return { kind: 'put', key, value: this.#value(), lease };
  }

  #key(): string {
    return `${this.#prng.pick(GROUPS)}${this.#prng.below(KEYS_OF_A_GROUP)}`;
  }

  /** A unique value, which identifies its write. Mostly small, sometimes large. */
  #value(): string {
    const id = this.#nextWrite;
    this.#nextWrite += 1;
    const dice = this.#prng.below(100);
    const length = dice < 75 ? this.#prng.below(100) : dice < 97 ? this.#prng.below(4000) : this.#prng.below(100_000);
    return `${id}:`.padEnd(length, 'v');
  }
}

class Round implements Asked {
  readonly acknowledged = new Map<number, { readonly write: Write; readonly answer: Answer }>();
  readonly open: Write[] = [];
  highestSeen: number;
  readonly #start: State;
  readonly #onFirst: () => void;
  /** The revision of each key's last change, according to answers. */
  readonly #seen = new Map<string, number>();

  constructor(history: History, onFirst: () => void) {
    this.highestSeen = history.revision;
    this.#start = history.state;
    this.#onFirst = onFirst;
  }

  lastSeen(key: string): number {
    return this.#seen.get(key) ?? this.#start.get(key)?.modRevision ?? 0;
  }

  acknowledge(write: Write, answer: Answer): void {
    if (answer.changed) {
      const other = this.acknowledged.get(answer.revision);
      if (other !== undefined) throw new BrokenPromise(`revision ${answer.revision} was assigned to two writes`);
      if (this.acknowledged.size === 0) this.#onFirst();
      this.acknowledged.set(answer.revision, { write, answer });
      const steps = write.kind === 'step' ? [write.step] : write.kind === 'txn' ? write.success : [];
      for (const step of steps) this.#seen.set(step.key, answer.revision);
    }
    this.highestSeen = Math.max(this.highestSeen, answer.revision);
  }
}

/** `refused`: the store refused, and nothing happened. `lost`: the outcome is unknown, and a write stays open. */
async function attempt<Result>(
  round: Round,
  write: Write | undefined,
  call: () => Promise<Result>,
): Promise<Result | 'refused' | 'lost'> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof EtcdError)) throw error;
    if (!error.uncertain) return 'refused';
    if (write !== undefined) round.open.push(write);
    return 'lost';
  }
}
