import { type Clock, type Logger, Mutex, sleep } from '@engram/core';
import { isMigrationError, MigrationError } from './migration-error.ts';
import { RevisionGroups, shown } from './revision-groups.ts';
import { RevisionWindow } from './revision-window.ts';
import type { Change, KeyHead, RevisionChanges, Source, Target } from './stores.ts';

export interface FollowerOptions {
  readonly source: Source;
  readonly target: Target;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How far a store is behind the one that it follows. */
export interface Lag {
  /** The newest revision here. */
  readonly at: number;
  /** The newest revision of the source that is known. */
  readonly source: number;
  /** Since when the source has said nothing, in milliseconds; undefined before its first word. */
  readonly silentMs: number | undefined;
  /** Whether the revision `at` is known to be that of the source: not right after the watch has begun anew. */
  readonly compared: boolean;
}

/** Pause before the source is tried again. */
const RETRY_MS = 1000;
/** What the end waits for the comparison of the newest revision: for a watch that begins anew, some of its pauses. */
const COMPARED_MAX_MS = 10_000;
const COMPARED_LOOK_MS = 100;
/** Of a store in which nothing was written. */
const EMPTY_REVISION = 1;
const LEASES_EACH_MS = 10_000;
/** Calls for leases that run at a time. */
const LEASE_CALLS = 32;
/** Of a lease that the source has ended before its grant was seen here: a revision to come deletes its keys. */
const ENDED_TTL_SECONDS = 3600;

/**
 * Brings the history of a source into a target: each revision as one transaction, whose revision, versions and leases are those of
 * the source. Each is compared before it is written. It goes on behind the target's newest revision, so it can be ended anywhere.
 */
export class Follower {
  readonly #options: FollowerOptions;
  /** A revision, and the comparison of leases, take turns. */
  readonly #turn = new Mutex();
  /** Of the target, with their TTLs. */
  #leases = new Map<bigint, number>();
  /** A grant or a revoke there has had no answer yet. */
  #leaseChanging = false;
  #at = 0;
  /** The newest revision that was given to the target. */
  #given = 0;
  /** Of the run; undefined before the first. */
  #window: RevisionWindow | undefined;
  #source = 0;
  #heardMs: number | undefined;
  #loaded = false;
  /** The target's newest revision is that of the source, as far as the source shows it. */
  #compared = false;
  #ended = false;

  constructor(options: FollowerOptions) {
    this.#options = options;
  }

  get lag(): Lag {
    const { clock } = this.#options;
    return {
      at: this.#at,
      source: Math.max(this.#source, this.#at),
      silentMs: this.#heardMs === undefined ? undefined : clock.nowMs() - this.#heardMs,
      compared: this.#compared,
    };
  }

  /** Of the target, with their TTLs. */
  get leases(): ReadonlyMap<bigint, number> {
    return this.#leases;
  }

  /** Follows until the signal aborts: then it rejects with its reason. Rejects with MigrationError where it cannot go on. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#options;
    for (;;) {
      const ends = new AbortController();
      const both = AbortSignal.any([signal, ends.signal]);
      let parts: readonly Promise<void>[] = [];
      try {
        await this.#load(both);
        const window = this.#newWindow();
        this.#window = window;
        parts = [this.#follow(window, both), this.#keepLeases(both)];
        await Promise.race([...parts, window.failure]);
      } catch (error) {
        signal.throwIfAborted();
        if (!isMigrationError(error, 'interrupted')) throw error;
        logger.warn({ error: error.message, at: this.#at }, 'the source is tried again');
      } finally {
        ends.abort(new MigrationError('interrupted', 'the watch has ended'));
        // What is written is known before anything is written after it.
        await Promise.allSettled(parts);
        await Promise.allSettled([this.#window?.drained()]);
      }
      await sleep(clock, RETRY_MS, signal);
    }
  }

  #newWindow(): RevisionWindow {
    return new RevisionWindow({
      target: this.#options.target,
      written: (revision) => {
        this.#at = revision;
      },
      refuse: async ({ revision, changes }, got, signal) => {
        if (got !== undefined) throw differs(`revision ${revision} of the source became ${got} here`);
        return await this.#throwDifference(changes, revision, signal);
      },
    });
  }

  /** What the target has. It may have revisions whose answers were lost, and no others. */
  async #load(signal: AbortSignal): Promise<void> {
    const { target } = this.#options;
    const at = await target.revision(signal);
    if (this.#loaded && (at < this.#at || at > this.#given)) {
      throw differs(`somebody else has written: the store that follows is at ${at}, and ${this.#at} was written last`);
    }
    this.#compared = false;
    this.#at = at;
    this.#given = at;
    await this.#readLeases(signal);
    this.#loaded = true;
  }

  /**
   * Runs `work` between two revisions, if the target has every revision and the leases of the source; nothing follows if it resolves.
   * Waits up to 10 s for a watch that begins anew. Rejects with MigrationError `lags` or `differs` otherwise: the message says how far
   * it lags, or what differs.
   */
  async end<Result>(work: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
    const { source, target, clock } = this.#options;
    const untilMs = clock.nowMs() + COMPARED_MAX_MS;
    while (!this.#compared && clock.nowMs() < untilMs) await sleep(clock, COMPARED_LOOK_MS, signal);
    return await this.#turn.run(async () => {
      this.#checkCaughtUp(await source.revision(signal));
      await this.#compareLeases(signal, 'all');
      const [theirs, ours] = await Promise.all([source.auth(signal), target.auth(signal)]);
      if (theirs.enabled !== ours.enabled || theirs.authRevision !== ours.authRevision) {
        const text = `users and roles have changed at the source (revision ${theirs.authRevision}, here ${ours.authRevision})`;
        throw differs(`${text}: change them here in the same way, or begin with a new snapshot`);
      }
      await this.#compareKeys(signal);
      // Behind everything that took time: a source that is written to has a newer one.
      this.#checkCaughtUp(await source.revision(signal));
      const result = await work();
      this.#ended = true;
      return result;
    });
  }

  #checkCaughtUp(newest: number): void {
    if (!this.#compared) {
      throw new MigrationError('lags', `the newest revision here, ${this.#at}, is not compared with the source yet`);
    }
    this.#source = Math.max(this.#source, newest);
    if (newest === this.#at) return;
    if (newest < this.#at) throw differs(`this store is at ${this.#at}, and the source at ${newest} only`);
    const text = `this store is at ${this.#at}, and the source at ${newest}`;
    throw new MigrationError('lags', `${newest - this.#at} revisions are missing: ${text}`);
  }

  /** A watcher that is late while an etcd before 3.6 compacts may miss deletions, so that keys live here which nobody has any more. */
  async #compareKeys(signal: AbortSignal): Promise<void> {
    const { source, target } = this.#options;
    const [theirs, ours] = await Promise.all([source.keys(this.#at, signal), target.keys(this.#at, signal)]);
    if (theirs === ours) return;
    const text = `revision ${this.#at} has ${ours} keys here, and ${theirs} at the source`;
    throw differs(`${text}, which has not shown all changes: begin again with a new snapshot`);
  }

  async #follow(window: RevisionWindow, signal: AbortSignal): Promise<void> {
    const { source, clock } = this.#options;
    // From the newest revision here on, which must be that of the source: somebody else may have written it. Behind a compaction of
    // the next one an etcd may show only a part of that: before 3.6 without its deletions.
    const from = this.#at <= EMPTY_REVISION ? this.#at + 1 : this.#at;
    const groups = new RevisionGroups(from, from === this.#at);
    this.#compared = from > this.#at;
    for await (const response of source.watch(from, signal)) {
      signal.throwIfAborted();
      this.#heardMs = clock.nowMs();
      const newest = response.header?.revision ?? 0;
      if (response.created && newest < this.#at) {
        const text = `the source is at ${newest} only, and the store that follows at ${this.#at}`;
        throw new MigrationError('interrupted', text);
      }
      this.#source = Math.max(this.#source, newest);
      for (const whole of groups.take(response)) {
        await this.#turn.run(() =>
          whole.revision === this.#given ? this.#compareNewest(whole, signal) : this.#apply(whole, window, signal),
        );
        this.#compared = true;
      }
      // Progress: every event up to its revision was shown.
      if (!response.created && response.events.length === 0 && newest >= this.#at) this.#compared = true;
    }
    throw new MigrationError('interrupted', 'the source has ended the watch');
  }

  /** The target is at this revision, so its changes are all there is of their keys. */
  async #compareNewest({ revision, changes }: RevisionChanges, signal: AbortSignal): Promise<void> {
    const keys = changes.map(({ key }) => key);
    const heads = await this.#options.target.heads(keys, signal);
    for (const [at, change] of changes.entries()) {
      const head = heads[at];
      const isSame =
        change.kind === 'delete'
          ? head === undefined
          : head?.modRevision === revision &&
            head.version === change.version &&
            head.createRevision === change.createRevision;
      if (!isSame) throw differs(`revision ${revision} here is not that of the source: the key ${shown(change.key)}`);
    }
  }

  /** Resolves when the revision is on its way to the target. */
  async #apply(whole: RevisionChanges, window: RevisionWindow, signal: AbortSignal): Promise<void> {
    const { revision, changes } = whole;
    if (this.#ended) throw differs(`revision ${revision} of the source comes after the following has ended`);
    signal.throwIfAborted();
    await this.#grantFor(changes, signal);
    if (!changes.every((change) => createdThen(change, revision))) {
      await window.drained();
      await this.#throwDifference(changes, revision, signal);
    }
    this.#given = revision;
    await window.write(whole, signal);
  }

  /** Nothing of the revision is written. */
  async #throwDifference(changes: readonly Change[], revision: number, signal: AbortSignal): Promise<never> {
    const keys = changes.map(({ key }) => key);
    const heads = await this.#options.target.heads(keys, signal);
    for (const [at, change] of changes.entries()) checkChange(change, heads[at], revision);
    throw differs(`somebody else has written a key of revision ${revision} of the source here`);
  }

  async #readLeases(signal: AbortSignal): Promise<void> {
    this.#leases = new Map(await this.#options.target.leases(signal));
    this.#leaseChanging = false;
  }

  /** A change whose answer was lost has taken effect, or never will once the target has told its revision. */
  async #settleLeases(signal: AbortSignal): Promise<void> {
    if (!this.#leaseChanging) return;
    await this.#options.target.revision(signal);
    await this.#readLeases(signal);
  }

  async #grantFor(changes: readonly Change[], signal: AbortSignal): Promise<void> {
    await this.#settleLeases(signal);
    for (const change of changes) {
      if (change.kind !== 'put' || change.lease === 0n || this.#leases.has(change.lease)) continue;
      const ttl = await this.#options.source.leaseTtl(change.lease, signal);
      await this.#grant(change.lease, ttl ?? ENDED_TTL_SECONDS, signal);
    }
  }

  async #grant(id: bigint, ttlSeconds: number, signal: AbortSignal): Promise<void> {
    this.#leaseChanging = true;
    const granted = await this.#options.target.grant(id, ttlSeconds, signal);
    this.#leaseChanging = false;
    if (granted !== ttlSeconds) {
      throw differs(`the lease ${id.toString(16)} has ${ttlSeconds} s at the source, and gets ${granted} s here`);
    }
    this.#leases.set(id, ttlSeconds);
  }

  /** The lease has no keys. */
  async #revoke(id: bigint, signal: AbortSignal): Promise<void> {
    this.#leaseChanging = true;
    await this.#options.target.revoke(id, signal);
    this.#leaseChanging = false;
    this.#leases.delete(id);
  }

  /** Leases without keys show in no event. */
  async #keepLeases(signal: AbortSignal): Promise<never> {
    for (;;) {
      await this.#turn.run(async () => {
        // A revision on its way may attach keys.
        await this.#window?.drained();
        // Clients have the leases here now, and nobody renews those of the source.
        if (!this.#ended) await this.#compareLeases(signal, 'new');
      });
      await sleep(this.#options.clock, LEASES_EACH_MS, signal);
    }
  }

  /** `all`: compares the TTLs of all leases as well, and refuses a lease that the source does not have. */
  async #compareLeases(signal: AbortSignal, which: 'new' | 'all'): Promise<void> {
    const { source, target } = this.#options;
    signal.throwIfAborted();
    await this.#settleLeases(signal);
    const there = new Set(await source.leases(signal));
    for (const id of this.#leases.keys()) {
      if (there.has(id)) continue;
      if (!(await target.hasKeys(id, signal))) {
        await this.#revoke(id, signal);
      } else if (which === 'all') {
        throw differs(`the lease ${id.toString(16)} has keys here, and is not at the source`);
      }
    }
    const asked = [...there].filter((id) => which === 'all' || !this.#leases.has(id));
    for (let at = 0; at < asked.length; at += LEASE_CALLS) {
      const some = asked.slice(at, at + LEASE_CALLS);
      const ttls = await Promise.all(some.map((id) => source.leaseTtl(id, signal)));
      for (const [index, id] of some.entries()) await this.#compareLease(id, ttls[index], which, signal);
    }
  }

  /** `ttl`: at the source; undefined if the lease has ended there. */
  async #compareLease(id: bigint, ttl: number | undefined, which: 'new' | 'all', signal: AbortSignal): Promise<void> {
    const { target } = this.#options;
    const here = this.#leases.get(id);
    if (ttl === undefined || ttl === here) return;
    if (here === undefined) await this.#grant(id, ttl, signal);
    else if (await target.hasKeys(id, signal)) {
      if (which === 'all') throw differs(`the lease ${id.toString(16)} has ${here} s here, and ${ttl} s at the source`);
    } else {
      await this.#revoke(id, signal);
      await this.#grant(id, ttl, signal);
    }
  }
}

/** A key has version 1 in the revision that creates it, and in no other. */
const createdThen = (change: Change, revision: number): boolean =>
  change.kind === 'delete' || (change.version === 1) === (change.createRevision === revision);

/** What the change will make here must be what it made at the source. */
function checkChange(change: Change, head: KeyHead | undefined, revision: number): void {
  const where = `the key ${shown(change.key)} in revision ${revision}`;
  if (change.kind === 'delete') {
    if (head === undefined) throw differs(`${where} is deleted at the source, and does not live here`);
    return;
  }
  const version = (head?.version ?? 0) + 1;
  const createRevision = head?.createRevision ?? revision;
  if (change.version === version && change.createRevision === createRevision) return;
  const theirs = `version ${change.version}, created at ${change.createRevision}`;
  throw differs(
    `${where} has ${theirs} at the source, and would have version ${version}, created at ${createRevision}, here`,
  );
}

const differs = (message: string): MigrationError => new MigrationError('differs', message);
