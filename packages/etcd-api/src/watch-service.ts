import { type AuthRefusal, KeyAccess } from '@engram/auth';
import {
  errorTable,
  type EventGroup,
  GrpcCode,
  type Int64,
  isEngramError,
  type Revision,
  revision,
} from '@engram/core';
import type { PureJob } from '@engram/loop';
import type { CreateOutcome, Watcher, WatchSink, WatchStream } from '@engram/watch-hub';
import {
  encodeWatchResponse,
  etcdserverpb,
  type Method,
  type RpcStatus,
  type StreamCall,
  type StreamHandler,
  statusOf,
  type WatchHead,
  WireError,
} from '@engram/wire';
import type { RightsHolder } from './auth/watch-rights.ts';
import type { CallAdmission } from './call-admission.ts';
import { EventMemo } from './event-memo.ts';
import type { ServiceParts } from './service-parts.ts';
import type { StreamOfWatchers } from './watcher-shares.ts';

/** The watch id of a response that concerns no watcher, or all watchers of the stream. */
const NO_WATCHER = -1;
/** The bytes that gRPC may add to the largest request in etcd (server/embed: grpcOverheadBytes). */
const FRAGMENT_SLACK_BYTES = 512 * 1024;
/** A stream ends if a client sends requests without reading and queues this many times `streamQueueBytesMax`. */
const HARD_BOUND = 4;
const ZERO_KEY = Uint8Array.of(0);
/** etcd has no such bound. */
const TOO_MANY_WATCHERS = 'etcdserver: too many watchers';

/** Clients resume a stream that ends with this code. With any other code they give up (client/v3/watch.go). */
const notReading: RpcStatus = {
  code: GrpcCode.UNAVAILABLE,
  message: 'etcdserver: watch stream closed: the client does not read its responses',
};
const broken: RpcStatus = {
  code: GrpcCode.UNAVAILABLE,
  message: 'etcdserver: watch stream closed: history is unreadable',
};

/** Clients parse these texts as errors, so they equal the texts of etcd's errors (etcd server/storage/mvcc/watcher.go). */
const refusals: Readonly<Record<Extract<CreateOutcome, { kind: 'refused' }>['reason'], string>> = {
  'negative-revision': errorTable.Compacted.message,
  'empty-range': 'mvcc: watcher range is empty',
  'duplicate-id': 'mvcc: duplicate watch ID provided on the WatchStream',
};

/** Clients parse these texts too, and etcd makes them otherwise: they begin with the code (etcd api/v3rpc/watch.go: recvLoop). */
const deniedTexts: Readonly<Record<AuthRefusal | 'InvalidAuthToken', string>> = {
  InvalidAuthToken: `rpc error: code = Unauthenticated desc = ${errorTable.InvalidAuthToken.message}`,
  AuthOldRevision: `rpc error: code = InvalidArgument desc = ${errorTable.AuthOldRevision.message}`,
  UserEmpty: `rpc error: code = InvalidArgument desc = ${errorTable.UserEmpty.message}`,
  UserNotFound: `rpc error: code = PermissionDenied desc = ${errorTable.PermissionDenied.message}`,
  PermissionDenied: `rpc error: code = PermissionDenied desc = ${errorTable.PermissionDenied.message}`,
};

export function watchMethods(parts: ServiceParts, admission: CallAdmission): readonly (readonly [string, Method])[] {
  const memo = new EventMemo((at) => parts.headerBytes(at), parts.loop);
  const open = (call: StreamCall): WatchCall => new WatchCall(parts, memo, call);
  return [['/etcdserverpb.Watch/Watch', admission.bidi(open)]];
}

/** One stream of watches. Passes the client's requests to the hub and the hub's events to the client. */
class WatchCall implements StreamHandler, WatchSink, RightsHolder {
  readonly #parts: ServiceParts;
  readonly #memo: EventMemo;
  readonly #watchers: StreamOfWatchers;
  readonly #call: StreamCall;
  readonly #stream: WatchStream;
  readonly #queueBytesMax: number;
  #ended = false;
  /** For whom the newest watcher was created. */
  #user = '';
  /** True while the hub calls this sink: the hub must not be called then. */
  #inSink = false;

  constructor(parts: ServiceParts, memo: EventMemo, call: StreamCall) {
    this.#parts = parts;
    this.#memo = memo;
    this.#watchers = parts.watcherShares.open(call.peer);
    this.#call = call;
    this.#queueBytesMax = parts.limits.streamQueueBytesMax;
    this.#stream = parts.store.watchHub.openStream(this, call.client);
    parts.watchRights.add(this);
  }

  message(bytes: Uint8Array): void {
    let request: etcdserverpb.WatchRequest;
    try {
      request = etcdserverpb.decodeWatchRequest(bytes);
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      this.#end(statusOf(error, 'stream'));
      return;
    }
    if (request.createRequest !== undefined) this.#create(request.createRequest);
    else if (request.cancelRequest !== undefined) this.#cancel(request.cancelRequest.watchId);
    else if (request.progressRequest !== undefined) this.#stream.requestProgress();
    else this.#parts.logger.info({ peer: this.#call.peer }, 'a watch request of no kind was ignored');
  }

  /** A client may half-close the stream and still receive events. */
  halfClosed(): void {}

  drained(): void {
    this.#outsideSink(() => this.#stream.drained());
  }

  closed(): void {
    this.#ended = true;
    this.#parts.watchRights.remove(this);
    this.#watchers.close();
    this.#outsideSink(() => this.#stream.close());
  }

  /**
   * The transport may find that the client has gone while it sends for a sink's call. The hub is then called in a
   * microtask.
   */
  #outsideSink(call: () => void): void {
    if (this.#inSink) queueMicrotask(call);
    else call();
  }

  prepare({ request }: Watcher, groups: readonly EventGroup[]): Promise<void> | undefined {
    return this.#takesNone() ? undefined : this.#memo.prepare(groups, request.prevKv);
  }

  events(watcher: Watcher, groups: readonly EventGroup[], headerRevision: Revision): boolean {
    if (this.#takesNone()) return false;
    this.#inSink = true;
    this.#count(groups);
    const { watchId, request } = watcher;
    if (request.fragment) this.#sendFragments(watcher, groups, headerRevision);
    else this.#call.send(this.#memo.response(watchId, request.prevKv, groups, headerRevision));
    this.#inSink = false;
    return true;
  }

  #count(groups: readonly EventGroup[]): void {
    const { counts } = this.#parts;
    for (const group of groups) counts.events += group.events.length;
  }

  compacted(watcher: Watcher, compactRevision: Revision): void {
    this.#watchers.remove(watcher.watchId);
    this.#inSink = true;
    this.#send({ revision: revision(0), watchId: watcher.watchId, canceled: true, compactRevision });
    this.#inSink = false;
  }

  progress(watcher: Watcher | undefined, at: Revision): void {
    if (this.#full()) return;
    this.#inSink = true;
    this.#send({ revision: at, watchId: watcher?.watchId ?? NO_WATCHER });
    this.#inSink = false;
  }

  failed(cause: unknown): void {
    this.#parts.logger.error({ cause: String(cause) }, 'a watch stream was closed because history could not be read');
    this.#inSink = true;
    this.#end(isEngramError(cause) ? statusOf(cause) : broken);
    this.#inSink = false;
  }

  #sendFragments({ watchId, request }: Watcher, groups: readonly EventGroup[], headerRevision: Revision): void {
    const bytesMax = this.#parts.limits.maxRequestBytes + FRAGMENT_SLACK_BYTES;
    const parts = this.#memo.fragments(watchId, request.prevKv, groups, headerRevision, bytesMax);
    for (const part of parts) this.#call.send(part);
  }

  #create(request: etcdserverpb.WatchCreateRequest): void {
    const denied = this.#parts.auth.enabled ? this.#denied(request) : undefined;
    if (denied !== undefined) {
      this.#refuse(denied);
      return;
    }
    if (!this.#watchers.mayAdd()) {
      this.#refuse(TOO_MANY_WATCHERS);
      return;
    }
    // The transport reuses the request's bytes after this call, but the watcher keeps its keys.
    const key = request.key.length === 0 ? ZERO_KEY : request.key.slice();
    const span = this.#call.span?.child('watch', {
      key,
      range_end: request.rangeEnd,
      start_rev: request.startRevision,
      progress_notify: request.progressNotify,
      prev_kv: request.prevKv,
      fragment: request.fragment,
    });
    let outcome: CreateOutcome;
    try {
      outcome = this.#stream.create({
        range: { key, end: request.rangeEnd.slice() },
        startRevision: revision(request.startRevision),
        prevKv: request.prevKv,
        progressNotify: request.progressNotify,
        noPut: request.filters.includes(etcdserverpb.WatchCreateRequestFilterType.NOPUT),
        noDelete: request.filters.includes(etcdserverpb.WatchCreateRequestFilterType.NODELETE),
        fragment: request.fragment,
        watchId: request.watchId,
        span,
      });
    } catch (error) {
      span?.end(error);
      if (!isEngramError(error)) throw error;
      this.#end(statusOf(error));
      return;
    }
    if (outcome.kind === 'refused') {
      span?.end(new Error(refusals[outcome.reason]));
      this.#refuse(refusals[outcome.reason]);
      return;
    }
    const { watcher } = outcome;
    this.#watchers.add(watcher);
    this.#send({ revision: outcome.revision, watchId: watcher.watchId, created: true });
    this.#stream.start(watcher);
  }

  /** Judges the range as the client sent it. A negative revision is refused first, as in etcd. */
  #denied({ key, rangeEnd, startRevision }: etcdserverpb.WatchCreateRequest): string | undefined {
    const { auth } = this.#parts;
    if (startRevision < 0) return undefined;
    const info = auth.identify(this.#call);
    if (info === undefined) return deniedTexts.InvalidAuthToken;
    const refusal = new KeyAccess(auth.view.state, info).watch({ key, end: rangeEnd });
    if (refusal !== undefined) return deniedTexts[refusal];
    this.#user = info.user;
    return undefined;
  }

  identified(): Promise<unknown> | undefined {
    return this.#user === '' ? this.#parts.auth.verified(this.#call) : undefined;
  }

  user(): string {
    if (this.#user === '') this.#user = this.#parts.auth.identify(this.#call)?.user ?? '';
    return this.#user;
  }

  /** Ends the watchers that their client may not have any more. */
  *recheck(access: KeyAccess): PureJob<void> {
    for (const { watchId, request } of this.#watchers.all()) {
      const refusal = access.watch(request.range);
      if (refusal !== undefined) this.#endDenied(watchId, deniedTexts[refusal]);
      if (this.#parts.loop.shouldYield()) yield;
    }
  }

  released(): void {
    this.#outsideSink(() => this.#stream.drained());
  }

  #endDenied(watchId: Int64, cancelReason: string): void {
    if (!this.#stream.cancel(watchId)) return;
    this.#watchers.remove(watchId);
    this.#send({ revision: this.#parts.store.watchHub.header, watchId, canceled: true, cancelReason });
  }

  #refuse(cancelReason: string): void {
    const at = this.#parts.store.watchHub.header;
    this.#send({ revision: at, watchId: NO_WATCHER, created: true, canceled: true, cancelReason });
  }

  #cancel(watchId: Int64): void {
    if (!this.#stream.cancel(watchId)) return;
    this.#watchers.remove(watchId);
    this.#send({ revision: this.#parts.store.watchHub.header, watchId, canceled: true });
  }

  #takesNone(): boolean {
    return this.#full() || this.#parts.watchRights.holdsBack(this);
  }

  #full(): boolean {
    return this.#call.queuedBytes > this.#queueBytesMax || this.#call.crowded;
  }

  #send({ revision: at, ...head }: Omit<WatchHead, 'header'> & { readonly revision: Revision }): void {
    if (this.#call.queuedBytes > this.#queueBytesMax * HARD_BOUND) {
      this.#end(notReading);
      return;
    }
    this.#call.send(encodeWatchResponse({ header: this.#parts.headerBytes(at), ...head }, []));
  }

  /** The hub's stream is closed in `closed`, which the transport calls. */
  #end(status: RpcStatus): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#call.end(status);
  }
}
