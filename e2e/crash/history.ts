import { type Answer, branch, type Change, effect, type State, type Version, type Write } from './writes.ts';

/** What clients know, at a crash, about their requests since the last crash. */
export interface Asked {
  /** The acknowledged writes that changed a key, by revision. */
  readonly acknowledged: ReadonlyMap<number, { readonly write: Write; readonly answer: Answer }>;
  /** Writes without an answer, or whose answer has no revision of its own. Each happened once or not at all. */
  readonly open: readonly Write[];
  /** The highest revision in any answer. */
  readonly highestSeen: number;
}

/** A change as the store reports it, with the previous value in that report. */
export interface ReplayedChange extends Change {
  readonly before?: Version | undefined;
}

/** A version, with its place among the changes of its revision. */
export interface PlacedVersion extends Version {
  readonly sub: number;
}

/** A version that a compaction keeps, as HashKV counts them. `after` is undefined for a deletion. */
export interface KeptVersion {
  readonly key: string;
  readonly revision: number;
  readonly sub: number;
  readonly after: Version | undefined;
}

/** A violation of the store's guarantees. The text says which one, where, and what was found instead. */
export class BrokenPromise extends Error {
  override readonly name = 'BrokenPromise';
}

const sameVersion = (left: Version | undefined, right: Version | undefined): boolean =>
  left === right ||
  (left !== undefined &&
    right !== undefined &&
    left.value === right.value &&
    left.createRevision === right.createRevision &&
    left.modRevision === right.modRevision &&
    left.version === right.version &&
    left.lease === right.lease);

const sameChanges = (left: readonly Change[], right: readonly Change[]): boolean =>
  left.length === right.length &&
  left.every(({ key, after }, at) => key === right[at]?.key && sameVersion(after, right[at]?.after));

const short = (version: Version | undefined): string =>
  version === undefined
    ? 'nothing'
    : `"${version.value.slice(0, 24)}" create ${version.createRevision} mod ${version.modRevision} version ${version.version} lease ${version.lease}`;

const describe = (changes: readonly Change[]): string =>
  changes.length === 0 ? '(no change)' : changes.map(({ key, after }) => `${key} = ${short(after)}`).join('; ');

/**
 * All changes in a store, by revision, as its answers and replayed watches prove them. A revision that was seen once
 * must be the same after every later crash.
 */
export class History {
  /** Revisions below this one are compacted. 0 before the first compaction. */
  compacted = 0;
  /** The newest revision. An empty store is at 1. */
  revision = 1;
  /** The state at `compacted`. */
  #base: Map<string, PlacedVersion> = new Map();
  /** The changes by revision, from `compacted` on. The changes of `compacted` itself are kept for their deletions. */
  readonly #groups = new Map<number, readonly Change[]>();
  #state: Map<string, PlacedVersion> = new Map();

  /** The newest state. */
  get state(): State {
    return this.#state;
  }

  changesAt(revision: number): readonly Change[] {
    return this.#groups.get(revision) ?? [];
  }

  /** The state at a revision that is not compacted. */
  stateAt(revision: number): ReadonlyMap<string, PlacedVersion> {
    const state = new Map(this.#base);
    for (let at = this.compacted + 1; at <= revision; at += 1) apply(state, this.changesAt(at));
    return state;
  }

  /** The versions up to `upTo` that a compaction at `compacted` keeps, in the order of their revisions. */
  kept(upTo: number): readonly KeptVersion[] {
    const kept: KeptVersion[] = [...this.#base].map(([key, after]) => ({
      key,
      revision: after.modRevision,
      sub: after.sub,
      after,
    }));
    for (const [sub, { key, after }] of this.changesAt(this.compacted).entries()) {
      if (after === undefined) kept.push({ key, revision: this.compacted, sub, after });
    }
    for (let revision = this.compacted + 1; revision <= upTo; revision += 1) {
      for (const [sub, { key, after }] of this.changesAt(revision).entries()) kept.push({ key, revision, sub, after });
    }
    return kept.sort((left, right) => left.revision - right.revision || left.sub - right.sub);
  }

  /** Applies a compaction at this revision. */
  compact(revision: number): void {
    if (revision <= this.compacted) return;
    this.#base = new Map(this.stateAt(revision));
    for (const at of this.#groups.keys()) if (at < revision) this.#groups.delete(at);
    this.compacted = revision;
  }

  /**
   * Adds the events that a watch from `compacted` + 1 up to the newest revision replayed after a crash, and checks
   * them. Throws BrokenPromise. Returns the open writes that proved to have happened.
   */
  take(replayed: readonly (readonly [number, readonly ReplayedChange[]])[], asked: Asked): readonly Write[] {
    for (const revision of asked.acknowledged.keys()) {
      if (revision <= this.revision) {
        throw new BrokenPromise(`revision ${revision} was acknowledged twice: the store was at ${this.revision}`);
      }
    }
    const unexplained: Unexplained[] = [];
    const state = new Map(this.#base);
    let expected = this.compacted === 0 ? 2 : this.compacted + 1;
    for (const [revision, changes] of replayed) {
      if (revision !== expected) {
        throw new BrokenPromise(`revision ${expected} should be next in the watch, but it is ${revision}`);
      }
      expected += 1;
      const isNew = revision > this.revision;
      if (!isNew && !sameChanges(this.changesAt(revision), changes)) {
        throw new BrokenPromise(
          `revision ${revision} was ${describe(this.changesAt(revision))}, and is now ${describe(changes)}`,
        );
      }
      if (isNew) {
        const known = asked.acknowledged.get(revision);
        if (known !== undefined) checkAcknowledged(state, revision, changes, known.write, known.answer);
        else unexplained.push(candidates(state, revision, changes, asked.open));
      }
      for (const { key, before } of changes) {
        if (!sameVersion(before, state.get(key))) {
          throw new BrokenPromise(
            `revision ${revision}: ${key} was ${short(state.get(key))} before, the event says ${short(before)}`,
          );
        }
      }
      this.#groups.set(revision, changes);
      apply(state, changes);
    }
    const newest = expected - 1;
    if (newest < asked.highestSeen) {
      throw new BrokenPromise(`revision ${asked.highestSeen} was acknowledged, and the store ends at ${newest}`);
    }
    if (newest < this.revision) {
      throw new BrokenPromise(`the store was at revision ${this.revision} before, and ends at ${newest} now`);
    }
    this.revision = newest;
    this.#state = state;
    return assign(unexplained);
  }
}

function apply(state: Map<string, PlacedVersion>, changes: readonly Change[]): void {
  for (const [sub, { key, after }] of changes.entries()) {
    if (after === undefined) state.delete(key);
    else state.set(key, { ...after, sub });
  }
}

/** A revision that is in no answer, with the open writes that could have made it. */
interface Unexplained {
  readonly revision: number;
  readonly changes: readonly Change[];
  readonly candidates: readonly Write[];
}

function candidates(state: State, revision: number, changes: readonly Change[], open: readonly Write[]): Unexplained {
  const matching = open.filter((write) => sameChanges(effect(write, state, revision), changes));
  if (matching.length === 0) {
    throw new BrokenPromise(`revision ${revision} is what nobody asked for, or a part of it: ${describe(changes)}`);
  }
  return { revision, changes, candidates: matching };
}

/**
 * Assigns an open write to each revision. Two deletions that have the same effect at one revision differ at another, so
 * the first match is not always right. This is a bipartite matching by augmenting paths.
 */
function assign(unexplained: readonly Unexplained[]): readonly Write[] {
  const ownerOf = new Map<Write, Unexplained>();
  const place = (revision: Unexplained, tried: Set<Write>): boolean =>
    revision.candidates.some((write) => {
      if (tried.has(write)) return false;
      tried.add(write);
      const owner = ownerOf.get(write);
      if (owner !== undefined && !place(owner, tried)) return false;
      ownerOf.set(write, revision);
      return true;
    });
  for (const revision of unexplained) {
    if (!place(revision, new Set())) {
      throw new BrokenPromise(`revision ${revision.revision} happened twice: ${describe(revision.changes)}`);
    }
  }
  return [...ownerOf.keys()];
}

function checkAcknowledged(
  state: State,
  revision: number,
  changes: readonly Change[],
  write: Write,
  answer: Answer,
): void {
  const wanted = effect(write, state, revision);
  if (!sameChanges(wanted, changes)) {
    throw new BrokenPromise(
      `revision ${revision} was acknowledged as ${describe(wanted)}, and is ${describe(changes)}`,
    );
  }
  const { succeeded } = branch(write, state);
  if (answer.succeeded !== undefined && answer.succeeded !== succeeded) {
    throw new BrokenPromise(`revision ${revision}: the transaction said succeeded=${answer.succeeded}`);
  }
  if (answer.previous !== undefined) {
    const previous = wanted.flatMap(({ key }) => state.get(key)?.value ?? []);
    if (previous.length !== answer.previous.length || previous.some((value, at) => value !== answer.previous?.[at])) {
      throw new BrokenPromise(`revision ${revision}: its prev_kv was not what was there`);
    }
  }
}
