import { decodeKeyValue } from '@engram/coder';
import { type EventGroup, epoch, type KeyRange, keyText, type Revision, revision } from '@engram/core';
import {
  type Backend,
  type BackendCluster,
  type LeadershipEnd,
  openBackend,
  type OpResult,
  type StoreObserver,
} from '@engram/backend';
import { Loop, StepPace } from '@engram/loop';
import { Prng, quiet, SimClock } from '@engram/sim';
import type { Storage } from '@engram/storage';
import type { Watcher, WatchSink } from '@engram/watch-hub';
import type { ModelKv, ModelResponse } from '@engram/sim/model';

export interface Node {
  readonly backend: Backend;
  readonly clock: SimClock;
  readonly fatal: Error[];
}

/** Settings of a store whose long work gives way after so many steps, and whose writes are long from so many changes on. */
export const inSlicesOf = (
  steps: number,
  clock: SimClock,
): { readonly loop: Loop; readonly sharingChangesMax: number } => ({
  loop: new Loop({ clock, pace: new StepPace(steps) }),
  sharingChangesMax: steps,
});

export async function openNode(
  storage: Storage,
  options: {
    clock?: SimClock;
    epoch?: number;
    checkpointEveryBytes?: number;
    cacheBytesMax?: number;
    quotaBytes?: number;
    waitingBytesMax?: number;
    imageHoldMaxMs?: number;
    imagesBytesMax?: number;
    leasesMax?: number;
    requestTimeoutMs?: number;
    txnChangesMax?: number;
    txnAnswerBytesMax?: number;
    keyPagesMax?: number;
    /** Slices of so many steps, and no more changes of writes that are appended together. */
    sliceSteps?: number;
    loop?: Loop;
    firstRevision?: Revision;
    observer?: StoreObserver;
    onDeposed?: (end: LeadershipEnd) => void;
    cluster?: BackendCluster;
  } = {},
): Promise<Node> {
  const clock = options.clock ?? new SimClock();
  const fatal: Error[] = [];
  const { clock: _clock, epoch: wantedEpoch = 1, sliceSteps, ...rest } = options;
  const backend = await openBackend({
    storage,
    epoch: epoch(wantedEpoch),
    clock,
    random: new Prng(7),
    logger: quiet,
    memberId: 1n,
    onFatal: (error) => fatal.push(error),
    ...(sliceSteps === undefined ? {} : inSlicesOf(sliceSteps, clock)),
    ...rest,
  });
  return { backend, clock, fatal };
}

export interface PlainKv {
  readonly key: string;
  readonly mod: number;
  readonly create: number;
  readonly version: number;
  readonly value: string;
  readonly lease: bigint;
}

export function plainKv(bytes: Uint8Array): PlainKv {
  const kv = decodeKeyValue(bytes);
  return {
    key: keyText(kv.key),
    mod: kv.modRevision,
    create: kv.createRevision,
    version: kv.version,
    value: keyText(kv.value),
    lease: kv.lease,
  };
}

const plainModelKv = ({ key, mod, create, version, value, lease }: ModelKv): PlainKv => ({
  key,
  mod,
  create,
  version,
  value,
  lease,
});

/** Answers of the store in the form of `plainModel`, so that both can be compared whole. */
export function plainResult(result: OpResult): unknown {
  switch (result.kind) {
    case 'range':
      return {
        kind: 'range',
        revision: result.revision,
        count: result.count,
        more: result.more,
        kvs: [...result.kvs].map(plainKv),
      };
    case 'put':
      return {
        kind: 'put',
        revision: result.revision,
        prev: result.prevKv === undefined ? undefined : plainKv(result.prevKv),
      };
    case 'delete-range':
      return {
        kind: 'delete-range',
        revision: result.revision,
        deleted: result.deleted,
        prev: [...result.prevKvs].map(plainKv),
      };
    case 'txn':
      return {
        kind: 'txn',
        revision: result.revision,
        succeeded: result.succeeded,
        responses: result.responses.map(plainResult),
      };
  }
}

export function plainModel(result: ModelResponse): unknown {
  switch (result.kind) {
    case 'range':
      return { ...result, kvs: result.kvs.map(plainModelKv) };
    case 'put':
      return { ...result, prev: result.prev === undefined ? undefined : plainModelKv(result.prev) };
    case 'delete-range':
      return { ...result, prev: result.prev.map(plainModelKv) };
    case 'txn':
      return { ...result, responses: result.responses.map(plainModel) };
  }
}

/** A watcher that accepts and records everything. */
export class RecordingSink implements WatchSink {
  readonly groups: EventGroup[] = [];
  readonly compactions: Revision[] = [];
  readonly progresses: Revision[] = [];
  readonly failures: unknown[] = [];

  events(_watcher: Watcher, groups: readonly EventGroup[]): boolean {
    this.groups.push(...groups);
    return true;
  }
  compacted(_watcher: Watcher, compactRevision: Revision): void {
    this.compactions.push(compactRevision);
  }
  progress(_watcher: Watcher | undefined, at: Revision): void {
    this.progresses.push(at);
  }
  failed(cause: unknown): void {
    this.failures.push(cause);
  }
}

export function watchAll(node: Node, from: number, range?: KeyRange): RecordingSink {
  const sink = new RecordingSink();
  watchInto(node.backend, sink, from, range);
  return sink;
}

/** The sink gets the events of the range, or of all keys, from the revision on, with the superseded versions. */
export function watchInto(backend: Backend, sink: WatchSink, from: number, range?: KeyRange): void {
  const stream = backend.watchHub.openStream(sink);
  const outcome = stream.create({
    range: range ?? { key: Uint8Array.of(0), end: Uint8Array.of(0) },
    startRevision: revision(from),
    prevKv: true,
    progressNotify: false,
    noPut: false,
    noDelete: false,
    fragment: false,
    watchId: 0,
  });
  if (outcome.kind !== 'created') throw new Error(`the watch was refused: ${outcome.kind}`);
  stream.start(outcome.watcher);
}
