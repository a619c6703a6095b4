import { type Backend, CurrentLeadership, Following, nodeItself, openReplica, type Proposals } from '@engram/backend';
import { EngramError, epoch, type Epoch, keyBytes, putOp, rangeOp, type Txn } from '@engram/core';
import { type FollowMark, LeadingFollower } from '@engram/migration';
import { SimCopy, Prng, quiet, SharedLog, SharedLogStorage, type SimClock } from '@engram/sim';
import type { FaultPlan } from '@engram/storage';
import { mvccpb } from '@engram/wire';
import type { FakeEtcd } from './fake-etcd.ts';

const ALL = { key: Uint8Array.of(0), end: Uint8Array.of(0) };

/** The mark of a store that follows, as all members see it. */
export class FakeMark implements FollowMark {
  there = true;
  looks = 0;
  /** What a look waits for. */
  gate: Promise<void> | undefined;
  /** Called at each removal, before it takes effect. */
  removing: () => void = () => {};
  /** Looks fail. */
  broken = false;
  /** Removals take effect, and their answers are lost. */
  unanswered = false;

  async isThere(): Promise<boolean> {
    this.looks += 1;
    const { there } = this;
    await this.gate;
    if (this.broken) throw new Error('nobody answers');
    return there;
  }

  async remove(): Promise<void> {
    this.removing();
    this.there = false;
    if (this.unanswered) throw new Error('the answer is lost');
  }
}

/** A member of a cluster of two, which follows the etcd while it leads. */
export interface BedMember {
  readonly id: bigint;
  readonly backend: Backend;
  readonly following: Following;
  readonly follower: LeadingFollower;
  /** With what the following has ended; undefined while it runs. */
  outcome: { readonly error: unknown } | undefined;
}

/**
 * Two members over one log. Who leads is said by `lead`. What a client writes at the other one is forwarded, as a call of another
 * process is: under another caller.
 */
export class TwoMembers {
  readonly clock: SimClock;
  readonly mark = new FakeMark();
  /** What each append waits for. */
  readonly appends: { gate: Promise<void> | undefined };
  readonly members: readonly BedMember[];
  readonly #stop = new AbortController();
  #epoch: Epoch = epoch(2);
  #leader: BedMember | undefined;

  private constructor(
    clock: SimClock,
    appends: TwoMembers['appends'],
    members: (bed: TwoMembers) => readonly BedMember[],
  ) {
    this.clock = clock;
    this.appends = appends;
    this.members = members(this);
  }

  static async start(clock: SimClock, etcd: FakeEtcd): Promise<TwoMembers> {
    const log = new SharedLog('the log');
    const appends: TwoMembers['appends'] = { gate: undefined };
    const plan: FaultPlan = { gate: (operation) => (operation === 'append' ? appends.gate : undefined) };
    const parts: { readonly id: bigint; readonly backend: Backend; readonly following: Following }[] = [];
    const leadership = (): Proposals => {
      const leader = parts.find(({ backend }) => backend.leadership !== undefined)?.backend.leadership;
      if (leader === undefined) throw new EngramError('NoLeader');
      return forwarding(leader);
    };
    for (const id of [1n, 2n]) {
      const following = new Following();
      const current = new CurrentLeadership();
      const backend: Backend = await openReplica({
        storage: new SharedLogStorage(log, new SimCopy(), plan),
        clock,
        random: new Prng(Number(id)),
        logger: quiet,
        memberId: id,
        following,
        current,
        cluster: {
          get leader() {
            return leadership();
          },
          readIndex: () => undefined,
          confirm: async () => {
            if (current.leadership?.epoch !== log.sealed.epoch) throw new EngramError('NotLeader');
          },
        },
        onFatal: (error) => {
          throw error;
        },
      });
      parts.push({ id, backend, following });
    }
    const bed = new TwoMembers(clock, appends, ({ mark }) =>
      parts.map(({ id, backend, following }) => {
        const { stats } = backend;
        const options = { source: etcd, store: backend, stats, following, mark, clock, logger: quiet };
        return { id, backend, following, follower: new LeadingFollower(options), outcome: undefined };
      }),
    );
    for (const member of bed.members) bed.#run(member);
    return bed;
  }

  #run(member: BedMember): void {
    const over = (error: unknown): void => {
      member.outcome = { error };
    };
    member.follower.run(this.#stop.signal).then(() => over(undefined), over);
  }

  /** This member takes over. The one before knows it only when `told`. */
  async lead(member: BedMember, told = true): Promise<void> {
    const before = this.#leader;
    if (before !== undefined && told) await before.backend.stepDown();
    this.#epoch = epoch(this.#epoch + 1);
    await member.backend.lead(this.#epoch);
    this.#leader = member;
  }

  put(member: BedMember, key: string): Promise<number> {
    const txn: Txn = { compares: [], success: [putOp(keyBytes(key), keyBytes('x'))], failure: [] };
    return member.backend.txn(txn, { ...nodeItself }).then(({ revision }) => revision);
  }

  /** What this member has, as far as it has applied the log. */
  async keys(member: BedMember): Promise<readonly string[]> {
    const { kvs } = await member.backend.range(rangeOp(ALL, { serializable: true }), nodeItself);
    return [...kvs].map((bytes) => {
      const { key, value, version, createRevision, modRevision } = mvccpb.decodeKeyValue(bytes);
      return `${Buffer.from(key)}=${Buffer.from(value)} ${version} ${createRevision} ${modRevision}`;
    });
  }

  stop(): void {
    this.#stop.abort(new Error('the test ends'));
  }

  async close(): Promise<void> {
    for (const { backend } of this.members) await backend[Symbol.asyncDispose]();
  }
}

/** The leader's part of a forwarded call. */
const forwarding = (leader: Proposals): Proposals => ({
  txn: (txn) => leader.txn(txn, { ...nodeItself }),
  compact: (revision, physical) => leader.compact(revision, physical, { ...nodeItself }),
  leaseGrant: (id, ttlSeconds) => leader.leaseGrant(id, ttlSeconds, { ...nodeItself }),
  leaseRevoke: (id) => leader.leaseRevoke(id, { ...nodeItself }),
  leaseKeepAlive: (id) => leader.leaseKeepAlive(id, { ...nodeItself }),
  leaseTimeToLive: (id, keys) => leader.leaseTimeToLive(id, keys, { ...nodeItself }),
  activateAlarm: (alarm) => leader.activateAlarm(alarm, { ...nodeItself }),
  deactivateAlarm: (alarm) => leader.deactivateAlarm(alarm, { ...nodeItself }),
  changeAuth: (change) => leader.changeAuth(change, { ...nodeItself }),
  logIn: (login) => leader.logIn(login, { ...nodeItself }),
});
