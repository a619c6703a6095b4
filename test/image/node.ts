import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Backend, nodeItself, type OnRecovery, openReplica } from '@engram/backend';
import type { Clock, Epoch } from '@engram/core';
import { Prng, quiet, realClock } from '@engram/sim';
import { openSegmentStorage } from '@engram/storage-segment';
import { LogKeys, openRoot, openTikvStorage, type TikvStorage } from '@engram/storage-tikv';
import { TikvClient } from '@engram/tikv-client';
import { FakeCluster } from '@engram/tikv-client/testing';

const clusterId = 77n;

/** A node's own disk beside TiKV, by name; undefined if it has none. */
export type NodeDisk = string | undefined;

export interface TestNode extends AsyncDisposable {
  readonly storage: TikvStorage;
  readonly store: Backend;
  readonly fatal: readonly Error[];
}

/** TiKV stores in this process and complete nodes on them, without sockets. */
export class ImageWorld implements AsyncDisposable {
  readonly cluster = new FakeCluster({ clock: realClock });
  readonly keys = new LogKeys('test');
  readonly #clock: Clock = { ...realClock, nowMs: () => realClock.nowMs() + this.#passedMs };
  readonly #path: string;
  #opened = 0;
  #passedMs = 0;

  private constructor(path: string) {
    this.#path = path;
  }

  static async make(): Promise<ImageWorld> {
    return new ImageWorld(await mkdtemp(join(tmpdir(), 'engram-image-')));
  }

  async client(): Promise<TikvClient> {
    const { pdAddresses, transport } = this.cluster;
    this.#opened += 1;
    return await TikvClient.connect({ pdAddresses, transport, clock: realClock, random: new Prng(this.#opened) });
  }

  /** Lets time pass for what the nodes measure of each other. */
  pass(ms: number): void {
    this.#passedMs += ms;
  }

  async deleteDisk(disk: string): Promise<void> {
    await rm(join(this.#path, disk), { recursive: true, force: true });
  }

  /** Opens a node that has read the log to its end. With an epoch it leads. */
  async open(member: bigint, disk: NodeDisk, epoch?: Epoch, onRecovery?: OnRecovery): Promise<TestNode> {
    const client = await this.client();
    const root = await openRoot({ client, keys: this.keys, found: { clusterId, members: [] }, timeoutMs: 5_000 });
    const random = new Prng(1000 + this.#opened);
    const parts = { clock: realClock, random, logger: quiet };
    const storage = await openTikvStorage({
      client,
      prefix: 'test',
      root,
      member,
      segmentBytes: 3_000,
      local:
        disk === undefined
          ? { kind: 'memory', bytesMax: 20_000 }
          : {
              kind: 'disk',
              path: join(this.#path, disk),
              openStorage: (path) => openSegmentStorage({ path, ...parts, durability: 'none' }),
            },
      ...parts,
      clock: this.#clock,
    });
    const fatal: Error[] = [];
    let store: Backend;
    try {
      store = await openReplica({
        storage,
        ...parts,
        memberId: member,
        // So small that values are read from storage.
        cacheBytesMax: 2_000,
        checkpointEveryBytes: 5_000,
        cluster: { leader: nobody, readIndex: () => undefined, confirm: () => Promise.resolve() },
        ...(onRecovery === undefined ? {} : { onRecovery }),
        onDeposed: () => {},
        onFatal: (error) => fatal.push(error),
      });
    } catch (error) {
      await storage[Symbol.asyncDispose]();
      await client.close(0);
      throw error;
    }
    if (epoch !== undefined) await store.lead(epoch);
    return {
      storage,
      store,
      fatal,
      async [Symbol.asyncDispose]() {
        await store[Symbol.asyncDispose]();
        await client.close(0);
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#path, { recursive: true, force: true });
  }
}

const nobody = new Proxy({} as never, {
  get: () => () => Promise.reject(new Error('nobody leads')),
});

/** Writes an image of the node's state. */
export async function saveImage({ storage, store }: TestNode, pageBytes = 500): Promise<void> {
  const { signal } = nodeItself;
  const { from, parts } = store.replica.sharedImage({ pageBytes, pace: async () => {}, signal });
  await storage.image.save(from, parts, signal);
}

/** Applies the log to its end. */
export async function catchUp({ storage, store }: TestNode): Promise<void> {
  for await (const batch of storage.log.read(store.replica.next, nodeItself.signal)) await store.replica.follow(batch);
  await store.replica.whenApplied();
}

/** The complete state of a node: all versions with their bytes from storage, leases and marks. */
export async function dump({ store }: Pick<TestNode, 'store'>): Promise<object> {
  using image = await store.image(nodeItself.signal);
  const versions: string[] = [];
  const kvs = await image.read(0, image.count, nodeItself.signal);
  for (const [at, kv] of kvs.entries()) {
    const place = `${image.modRevision(at)}/${image.sub(at)}${image.isTombstone(at) ? ' deleted' : ''}`;
    versions.push(`${place} ${Buffer.from(kv).toString('hex')}`);
  }
  return {
    revision: store.revision,
    compactRevision: store.compactRevision,
    versions,
    leases: (await store.leases('by-id', nodeItself))
      .map(({ id, grantedTtlSeconds }) => `${id} ${grantedTtlSeconds}`)
      .sort(),
    alarms: store.alarms(),
    hash: (await store.hashKv(0, nodeItself.signal)).hash,
  };
}
