import { type Backend, nodeItself, openBackend } from '@engram/backend';
import { decodeKeyValue } from '@engram/coder';
import { type EventGroup, epoch, keyText, rangeOp, revision } from '@engram/core';
import { etcdServices, LoneMember } from '@engram/etcd-api';
import { FakeCall } from '@engram/etcd-api/testing';
import { Prng, quiet, SimClock } from '@engram/sim';
import type { Storage } from '@engram/storage';
import { etcdserverpb } from '@engram/wire';

const ALL = { key: Uint8Array.of(0), end: Uint8Array.of(0) };

export interface Node extends AsyncDisposable {
  readonly backend: Backend;
  readonly clock: SimClock;
}

/** A node that leads on a storage. */
export async function openNode(storage: Storage): Promise<Node> {
  const clock = new SimClock();
  const backend = await openBackend({
    storage,
    epoch: epoch(2),
    clock,
    random: new Prng(3),
    logger: quiet,
    memberId: 7n,
    onFatal: (error) => {
      throw error;
    },
  });
  return { backend, clock, [Symbol.asyncDispose]: () => backend[Symbol.asyncDispose]() };
}

/** What `etcdctl snapshot save` gets from a node. */
export async function snapshot({ backend, clock }: Node): Promise<Buffer> {
  const member = { id: 7n, name: 'one', peerUrls: [], clientUrls: [] };
  const methods = etcdServices({
    store: backend,
    cluster: new LoneMember({ clusterId: 9n, member, term: 2 }),
    version: '3.7.3',
    clock,
    logger: quiet,
  });
  const method = methods.get('/etcdserverpb.Maintenance/Snapshot');
  if (method?.kind !== 'server-stream') throw new Error('no snapshots');
  const call = FakeCall.serverStream(method, new Uint8Array(0));
  while (call.status === undefined) await clock.settle();
  if (call.status.code !== 0) throw new Error(call.status.message);
  return Buffer.concat(call.sent.map((bytes) => etcdserverpb.decodeSnapshotResponse(bytes).blob));
}

function plain(bytes: Uint8Array): string {
  const { key, value, createRevision, modRevision, version, lease } = decodeKeyValue(bytes);
  return `${keyText(key)}=${keyText(value)} created ${createRevision} modified ${modRevision} version ${version} lease ${lease}`;
}

/** Every key at a revision, or the code of the refusal. */
export async function keysAt({ backend }: Node, at: number): Promise<readonly string[]> {
  try {
    const { kvs, count } = await backend.range({ ...rangeOp(ALL), revision: at }, nodeItself);
    return [`count ${count}`, ...[...kvs].map(plain)];
  } catch (error) {
    return [String(error)];
  }
}

/** Every event from a revision on, with the version before it, in the order of the revisions. */
export async function eventsFrom({ backend, clock }: Node, from: number): Promise<readonly string[]> {
  const groups: EventGroup[] = [];
  const ends: string[] = [];
  const stream = backend.watchHub.openStream({
    events: (_watcher, more) => {
      groups.push(...more);
      return true;
    },
    compacted: (_watcher, at) => ends.push(`compacted at ${at}`),
    progress: () => {},
    failed: (cause) => ends.push(String(cause)),
  });
  const created = stream.create({
    range: ALL,
    startRevision: revision(from),
    prevKv: true,
    progressNotify: false,
    noPut: false,
    noDelete: false,
    fragment: false,
    watchId: 0,
  });
  if (created.kind !== 'created') return [created.kind];
  stream.start(created.watcher);
  const isOver = (): boolean => ends.length > 0 || (groups.at(-1)?.revision ?? from - 1) >= backend.revision;
  for (let turn = 0; turn < 10_000 && !isOver(); turn += 1) await clock.settle(5);
  stream.close();
  return [
    ...groups.flatMap(({ events }) =>
      events.map(({ type, kv, prevKv }) => `${type}: ${plain(kv)}, before: ${prevKv && plain(prevKv)}`),
    ),
    ...ends,
  ];
}

/** Every lease with its keys. */
export async function leasesOf({ backend }: Node): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const { id, grantedTtlSeconds } of await backend.leases('by-id', nodeItself)) {
    const details = await backend.leaseTimeToLive(id, true, nodeItself);
    lines.push(`${id} of ${grantedTtlSeconds} s: ${[...(details?.keys ?? [])].map(keyText).toSorted().join(' ')}`);
  }
  return lines;
}
