import { status } from '@grpc/grpc-js';
import type { KeyRange } from '@engram/core';
import { etcdserverpb as pb, type mvccpb, WireError } from '@engram/wire';
import type { EtcdClient } from './etcd-client.ts';
import { deadlineExceeded, RpcError, toRpcError } from './rpc-error.ts';

/** How often a member is asked how far the watch has come, as kube-apiserver does. */
const ASK_EACH_MS = 100;
const PROGRESS = pb.encodeWatchRequest({ progressRequest: {} });

export interface HistoryRange {
  readonly range: KeyRange;
  /** The first revision, 1 at least. */
  readonly from: number;
  /** The last one, which the store has reached. */
  readonly to: number;
  readonly prevKv: boolean;
}

export type HistoryPart =
  | { readonly kind: 'events'; readonly events: readonly mvccpb.Event[] }
  /** Nothing below `oldest` is there any more, and no event comes. */
  | { readonly kind: 'compacted'; readonly oldest: number };

/**
 * The changes of a range, in the order of their revisions, by a watch that ends at `to`. Throws RpcError, also where the member says
 * nothing for as long as a call may take.
 */
export async function* watchHistory(
  client: EtcdClient,
  { range, from, to, prevKv }: HistoryRange,
  signal: AbortSignal,
): AsyncGenerator<HistoryPart> {
  const call = await client.stream('/etcdserverpb.Watch/Watch', signal);
  let waiting = true;
  let late = false;
  const abort = (): void => call.cancel();
  signal.addEventListener('abort', abort, { once: true });
  call.on('error', () => {}); // the iteration throws it
  const idle = setTimeout(() => {
    if (!waiting) return;
    late = true;
    call.cancel();
  }, client.commandTimeoutMs);
  const asking = setInterval(() => call.write(PROGRESS), ASK_EACH_MS);
  try {
    // In fragments: the events of a thousand revisions may be more than a message may have.
    call.write(
      pb.encodeWatchRequest({
        createRequest: { key: range.key, rangeEnd: range.end, startRevision: from, prevKv, fragment: true },
      }),
    );
    call.write(PROGRESS);
    for await (const bytes of call) {
      const response = decoded(bytes);
      if (response.canceled) {
        if (response.compactRevision === 0) throw new RpcError(status.CANCELLED, response.cancelReason);
        yield { kind: 'compacted', oldest: response.compactRevision };
        return;
      }
      const events = response.events.filter(({ kv }) => (kv?.modRevision ?? 0) <= to);
      if (events.length > 0) {
        // Who takes the events may take its time.
        waiting = false;
        yield { kind: 'events', events };
        waiting = true;
        idle.refresh();
      }
      if (events.length < response.events.length) return;
      const isProgress = response.events.length === 0 && !response.created;
      if (isProgress && (response.header?.revision ?? 0) >= to) return;
      idle.refresh();
    }
    throw new RpcError(status.UNAVAILABLE, 'the member has ended the watch');
  } catch (error) {
    signal.throwIfAborted();
    throw late ? deadlineExceeded(`nothing of the watch within ${client.commandTimeoutMs} ms`) : toRpcError(error);
  } finally {
    clearTimeout(idle);
    clearInterval(asking);
    signal.removeEventListener('abort', abort);
    call.cancel();
  }
}

function decoded(bytes: Uint8Array): pb.WatchResponse {
  try {
    return pb.decodeWatchResponse(bytes);
  } catch (cause) {
    if (!(cause instanceof WireError)) throw cause;
    throw new RpcError(status.INTERNAL, `a message of the watch is none of etcd: ${cause.message}`, { cause });
  }
}
