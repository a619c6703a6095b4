import type { Prng } from '@engram/sim';
import type { etcdserverpb, mvccpb } from '@engram/wire';
import { bounded } from '../../test/support/bounded.ts';
import { ALL_KEYS, type EtcdClient, EtcdError } from '../../test/support/etcd-client.ts';
import { engramHash, etcdHash } from './hash.ts';
import { type Asked, BrokenPromise, type History, type ReplayedChange } from './history.ts';
import type { Load } from './load.ts';
import { readState, type State, type Version } from './writes.ts';

const REPLAY_MAX_MS = 20_000;
const OUT_OF_RANGE = 11;

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');

const toVersion = (kv: mvccpb.KeyValue): Version => ({
  value: text(kv.value),
  createRevision: kv.createRevision,
  modRevision: kv.modRevision,
  version: kv.version,
  lease: kv.lease,
});

const DELETE = 1;

function toChange({ type, kv, prevKv }: mvccpb.Event): ReplayedChange {
  if (kv === undefined) throw new BrokenPromise('an event without a key');
  return {
    key: text(kv.key),
    after: type === DELETE ? undefined : toVersion(kv),
    before: prevKv === undefined ? undefined : toVersion(prevKv),
  };
}

/** The forms of hash that a store may have. The run determines the form once. */
export type HashForm = 'etcd' | 'engram';

/** Checks a store that serves again after a crash against everything known about it. */
export class Inspection {
  readonly #client: EtcdClient;
  readonly #history: History;
  readonly #load: Load;
  readonly #prng: Prng;

  constructor(client: EtcdClient, history: History, load: Load, prng: Prng) {
    this.#client = client;
    this.#history = history;
    this.#load = load;
    this.#prng = prng;
  }

  /** Throws BrokenPromise for the first violation. Afterwards the history ends where the store ends. */
  async run(asked: Asked): Promise<void> {
    const { header } = await this.#client.range({ key: Uint8Array.of(0) });
    const revision = header?.revision ?? 0;
    await this.#checkCompaction();
    const replayed = await this.replay(revision);
    this.#history.take(replayed, asked);
    await this.#checkReads();
    await this.#checkLeases();
  }

  /** Every event after the compaction, by revision, from a new watch. */
  async replay(upTo: number): Promise<readonly (readonly [number, readonly ReplayedChange[]])[]> {
    const from = Math.max(2, this.#history.compacted + 1);
    if (upTo < from) return [];
    return bounded(`a watch from ${from} to ${upTo}`, REPLAY_MAX_MS, this.#replay(from, upTo));
  }

  /** The hash at the newest revision, read twice, and its form. */
  async checkHash(known: HashForm | undefined): Promise<{ readonly hash: number; readonly form: HashForm }> {
    const { revision, compacted } = this.#history;
    const first = await this.#client.hashKv({ revision });
    const second = await this.#client.hashKv({ revision });
    if (first.hash !== second.hash) {
      throw new BrokenPromise(`HashKV at ${revision} is ${first.hash}, and then ${second.hash}`);
    }
    const kept = this.#history.kept(revision);
    const forms = { etcd: etcdHash(kept, compacted), engram: engramHash(kept) };
    const form = known ?? (forms.etcd === first.hash ? 'etcd' : 'engram');
    if (forms[form] !== first.hash) {
      throw new BrokenPromise(
        `HashKV at ${revision}, compacted at ${compacted}, is ${first.hash}; computed from the events it is ` +
          `${forms.etcd} as etcd does it, ${forms.engram} as Engram does it`,
      );
    }
    return { hash: first.hash, form };
  }

  async #replay(from: number, upTo: number): Promise<(readonly [number, readonly ReplayedChange[]])[]> {
    const groups: [number, ReplayedChange[]][] = [];
    for await (const response of this.#client.watch({ ...ALL_KEYS, startRevision: from, prevKv: true })) {
      if (response.canceled) throw new BrokenPromise(`a watch from ${from} was cancelled: ${response.cancelReason}`);
      for (const event of response.events) {
        const revision = event.kv?.modRevision ?? 0;
        const last = groups.at(-1);
        if (last?.[0] === revision) last[1].push(toChange(event));
        else groups.push([revision, [toChange(event)]]);
      }
      // All events of a revision come in one response, because fragments were not requested.
      if ((groups.at(-1)?.[0] ?? 0) >= upTo) break;
    }
    return groups;
  }

  /** Checks that every acknowledged compaction has happened, and that a client requested the one that is there. */
  async #checkCompaction(): Promise<void> {
    const { compactRevision } = await this.#client.hashKv();
    const compacted = Math.max(0, compactRevision);
    const { compactionAcknowledged, compactionsAsked } = this.#load;
    const least = Math.max(this.#history.compacted, compactionAcknowledged);
    if (compacted < least) throw new BrokenPromise(`compacted at ${least}, and after the crash at ${compacted}`);
    if (compacted === 0) return;
    if (!compactionsAsked.has(compacted)) throw new BrokenPromise(`nobody asked for a compaction at ${compacted}`);
    this.#history.compact(compacted);
    if (compacted < 2) return;
    await this.#expectCompacted(compacted - 1);
    const answer = await firstEnd(this.#client, compacted - 1);
    if (answer.compactRevision !== compacted) {
      throw new BrokenPromise(
        `a watch below ${compacted} was cancelled with compact_revision ${answer.compactRevision}`,
      );
    }
  }

  async #expectCompacted(revision: number): Promise<void> {
    try {
      await readState(this.#client, revision);
    } catch (error) {
      if (error instanceof EtcdError && error.code === OUT_OF_RANGE) return;
      throw error;
    }
    throw new BrokenPromise(`revision ${revision} is below the compaction, and can be read`);
  }

  /** Checks the newest state and an older one by reads, as a client does. */
  async #checkReads(): Promise<void> {
    const { revision, compacted } = this.#history;
    this.#compareStates(revision, await readState(this.#client, 0));
    const oldest = Math.max(1, compacted);
    if (revision <= oldest) return;
    const older = oldest + this.#prng.below(revision - oldest);
    this.#compareStates(older, await readState(this.#client, older));
  }

  #compareStates(revision: number, read: State): void {
    const known = this.#history.stateAt(revision);
    for (const key of new Set([...known.keys(), ...read.keys()])) {
      const [expected, found] = [known.get(key), read.get(key)];
      const same =
        expected?.value === found?.value &&
        expected?.modRevision === found?.modRevision &&
        expected?.createRevision === found?.createRevision &&
        expected?.version === found?.version &&
        expected?.lease === found?.lease;
      if (!same) {
        throw new BrokenPromise(
          `${key} at revision ${revision}: the events say mod ${expected?.modRevision}, a read says ${found?.modRevision}`,
        );
      }
    }
  }

  /** Checks that granted leases exist with their TTL and keys, and that revoked leases and their keys are gone. */
  async #checkLeases(): Promise<void> {
    const { leases } = await this.#client.leaseLeases();
    const present = new Set(leases.map(({ ID }) => ID));
    const keysOf = new Map<bigint, string[]>();
    for (const [key, { lease }] of this.#history.state) {
      if (lease !== 0n) keysOf.set(lease, [...(keysOf.get(lease) ?? []), key]);
    }
    for (const [id, terms] of this.#load.leases) {
      if (terms.granted && !terms.mayEnd && !present.has(id)) throw new BrokenPromise(`lease ${id} is lost`);
      if (terms.revoked && present.has(id)) throw new BrokenPromise(`lease ${id} was revoked, and is back`);
      if (!present.has(id) && keysOf.has(id)) throw new BrokenPromise(`lease ${id} is gone, its keys are not`);
      if (!present.has(id) || terms.mayEnd) continue;
      const answer = await this.#client.leaseTimeToLive({ ID: id, keys: true });
      checkTerms(id, terms.ttl, answer, keysOf.get(id) ?? []);
    }
    for (const id of present) if (!this.#load.leases.has(id)) throw new BrokenPromise(`nobody asked for lease ${id}`);
  }
}

function checkTerms(
  id: bigint,
  ttl: number,
  { TTL, grantedTTL, keys }: etcdserverpb.LeaseTimeToLiveResponse,
  expectedKeys: readonly string[],
): void {
  if (grantedTTL !== ttl) throw new BrokenPromise(`lease ${id} was granted ${ttl} s, and has ${grantedTTL}`);
  if (TTL <= 0 || TTL > ttl) throw new BrokenPromise(`lease ${id} of ${ttl} s has ${TTL} s left`);
  const found = keys.map(text).sort().join(' ');
  const expected = [...expectedKeys].sort().join(' ');
  if (found !== expected) throw new BrokenPromise(`lease ${id} holds ${found}, and its keys are ${expected}`);
}

/** The response that ends a watch which cannot start. */
async function firstEnd(client: EtcdClient, startRevision: number): Promise<etcdserverpb.WatchResponse> {
  const end = async (): Promise<etcdserverpb.WatchResponse> => {
    for await (const response of client.watch({ ...ALL_KEYS, startRevision })) if (response.canceled) return response;
    throw new BrokenPromise(`a watch from ${startRevision} ended without a word`);
  };
  return bounded(`the end of a watch from ${startRevision}`, REPLAY_MAX_MS, end());
}
