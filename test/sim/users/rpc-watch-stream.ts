import { encodeKeyValue } from '@engram/coder';
import { EngramError, type EventType, leaseId, type Revision, revision } from '@engram/core';
import type { Watcher, WatchRequest } from '@engram/watch-hub';
import {
  type BidiMethod,
  etcdserverpb,
  joinMessage,
  type Message,
  type mvccpb,
  type StreamHandler,
} from '@engram/wire';
import type { SeenGroup } from '../judge/watch-judge.ts';
import type { SimCall } from './sim-call.ts';

/** Receives what the services send on a stream of watches. */
export interface RpcWatchSink {
  /** Whether nothing that can wait may be sent. `drained` is called afterwards. */
  isFull(): boolean;
  taken(watcher: Watcher, groups: readonly SeenGroup[], header: Revision): void;
  compacted(watcher: Watcher, compactRevision: Revision): void;
  progress(watcher: Watcher | undefined, at: Revision): void;
  /** The watcher has ended: its client may not read any more. */
  denied(watcher: Watcher, reason: string): void;
  failed(cause: unknown): void;
}

export type RpcCreated =
  | { readonly kind: 'created'; readonly watcher: Watcher; readonly revision: Revision }
  | { readonly kind: 'refused'; readonly reason: string }
  /** It is not known yet whether the client's token counts. The watcher is cancelled when it is there. */
  | { readonly kind: 'late' };

const { NOPUT, NODELETE } = etcdserverpb.WatchCreateRequestFilterType;
const NO_WATCHER = -1;

/** A stream of watches by the messages of etcd's service, in the form of a stream of the hub. */
export class RpcWatchStream {
  readonly #sink: RpcWatchSink;
  readonly #handler: StreamHandler;
  readonly #abort: AbortController;
  readonly #watchers = new Map<string, Watcher>();
  /** The answer to the create under way. */
  #created: etcdserverpb.WatchResponse | undefined;
  #isCreating = false;
  /** What came before the newest watcher was started. Undefined: nothing is held. */
  #held: etcdserverpb.WatchResponse[] | undefined;
  #ended = false;

  constructor(sink: RpcWatchSink, call: SimCall, method: BidiMethod, abort: AbortController) {
    this.#sink = sink;
    this.#abort = abort;
    call.onSend = (message) => this.#sent(message);
    call.onEnd = (error) => {
      if (this.#ended) return;
      this.#ended = true;
      if (!this.#isCreating) sink.failed(error);
    };
    call.isFull = () => sink.isFull();
    this.#handler = method.open(call);
  }

  create(request: WatchRequest): RpcCreated {
    const { range, startRevision, prevKv, progressNotify, noPut, noDelete } = request;
    const filters = [...(noPut ? [NOPUT] : []), ...(noDelete ? [NODELETE] : [])];
    const createRequest = { key: range.key, rangeEnd: range.end, startRevision, prevKv, progressNotify, filters };
    this.#isCreating = true;
    this.#created = undefined;
    this.#held = [];
    this.#message({ createRequest });
    this.#isCreating = false;
    if (this.#ended) throw new EngramError('Stopped');
    // `#message` may have set it.
    const created = this.#created as etcdserverpb.WatchResponse | undefined;
    if (created === undefined || created.canceled) {
      this.#flush();
      return created === undefined ? { kind: 'late' } : { kind: 'refused', reason: created.cancelReason };
    }
    const watcher: Watcher = { watchId: created.watchId, request };
    this.#watchers.set(String(created.watchId), watcher);
    return { kind: 'created', watcher, revision: headerOf(created) };
  }

  start(): void {
    this.#flush();
  }

  cancel(watchId: Watcher['watchId']): void {
    this.#watchers.delete(String(watchId));
    this.#message({ cancelRequest: { watchId } });
  }

  requestProgress(): void {
    this.#message({ progressRequest: {} });
  }

  drained(): void {
    if (!this.#ended) this.#handler.drained();
  }

  close(): void {
    this.#ended = true;
    this.#abort.abort();
    this.#handler.closed();
  }

  #message(request: Parameters<typeof etcdserverpb.encodeWatchRequest>[0]): void {
    if (!this.#ended) this.#handler.message(etcdserverpb.encodeWatchRequest(request));
  }

  #sent(message: Message): void {
    if (this.#ended) return;
    const response = etcdserverpb.decodeWatchResponse(joinMessage(message));
    if (response.created) {
      if (this.#isCreating) this.#created = response;
      else if (!response.canceled) this.#message({ cancelRequest: { watchId: response.watchId } });
    } else if (this.#held !== undefined) this.#held.push(response);
    else this.#pass(response);
  }

  #flush(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const response of held) if (!this.#ended) this.#pass(response);
  }

  #pass(response: etcdserverpb.WatchResponse): void {
    const { watchId, canceled, compactRevision, cancelReason, events } = response;
    const watcher = this.#watchers.get(String(watchId));
    if (canceled) {
      this.#watchers.delete(String(watchId));
      if (watcher === undefined) return;
      if (compactRevision > 0) this.#sink.compacted(watcher, revision(compactRevision));
      else this.#sink.denied(watcher, cancelReason);
      return;
    }
    if (events.length === 0) {
      if (watcher !== undefined || Number(watchId) === NO_WATCHER) this.#sink.progress(watcher, headerOf(response));
      return;
    }
    if (watcher !== undefined) this.#sink.taken(watcher, groupsOf(events), headerOf(response));
  }
}

const headerOf = ({ header }: etcdserverpb.WatchResponse): Revision => revision(header?.revision ?? 0);

/** The events of each revision. */
function groupsOf(events: readonly mvccpb.Event[]): readonly SeenGroup[] {
  const groups: { revision: Revision; events: SeenGroup['events'][number][] }[] = [];
  for (const { type, kv, prevKv } of events) {
    const modRevision = revision(kv?.modRevision ?? 0);
    const event = { type: type as EventType, modRevision, kv: bytesOf(kv)!, prevKv: bytesOf(prevKv) };
    const last = groups.at(-1);
    if (last?.revision === modRevision) last.events.push(event);
    else groups.push({ revision: modRevision, events: [event] });
  }
  return groups;
}

function bytesOf(kv: mvccpb.KeyValue | undefined): Uint8Array | undefined {
  if (kv === undefined) return undefined;
  const { createRevision, modRevision, lease } = kv;
  return encodeKeyValue({
    ...kv,
    createRevision: revision(createRevision),
    modRevision: revision(modRevision),
    lease: leaseId(lease),
  });
}
