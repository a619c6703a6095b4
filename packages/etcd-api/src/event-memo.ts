import type { EventGroup, Int64, KvEvent } from '@engram/core';
import { encodeEvents, encodeWatchResponse, type EncodedEvents, type Message } from '@engram/wire';

/** A whole response that was sent; many clients' streams have but one watcher, so ids repeat. */
interface SentResponse {
  readonly watchId: Int64;
  readonly headerRevision: number;
  readonly message: Message;
}

interface GroupsBytes {
  readonly events: EncodedEvents;
  response: SentResponse | undefined;
}

/**
 * Responses to watchers. Watchers that match the same events of a batch are given the same array of groups, so its
 * events are encoded once for all of them (once more where only some want prev_kv), and where watch id and header are
 * the same too, the whole response is. The bytes live as long as the array does.
 */
export class EventMemo {
  readonly #headerBytes: (revision: number) => Uint8Array;
  readonly #plain = new WeakMap<readonly EventGroup[], GroupsBytes>();
  readonly #withPrevKv = new WeakMap<readonly EventGroup[], GroupsBytes>();

  constructor(headerBytes: (revision: number) => Uint8Array) {
    this.#headerBytes = headerBytes;
  }

  response(watchId: Int64, prevKv: boolean, groups: readonly EventGroup[], headerRevision: number): Message {
    const bytes = this.#of(groups, prevKv && groups.some(hasPrevKv));
    const sent = bytes.response;
    if (sent !== undefined && sent.watchId === watchId && sent.headerRevision === headerRevision) return sent.message;
    const message = encodeWatchResponse({ header: this.#headerBytes(headerRevision), watchId }, [bytes.events]);
    bytes.response = { watchId, headerRevision, message };
    return message;
  }

  #of(groups: readonly EventGroup[], withPrevKv: boolean): GroupsBytes {
    const memo = withPrevKv ? this.#withPrevKv : this.#plain;
    let bytes = memo.get(groups);
    if (bytes === undefined) {
      bytes = { events: encodeEvents(eventsOf(groups), withPrevKv), response: undefined };
      memo.set(groups, bytes);
    }
    return bytes;
  }
}

function eventsOf(groups: readonly EventGroup[]): readonly KvEvent[] {
  const [first] = groups;
  if (first !== undefined && groups.length === 1) return first.events;
  const events: KvEvent[] = [];
  for (const group of groups) for (const event of group.events) events.push(event);
  return events;
}

const hasPrevKv = (group: EventGroup): boolean => group.events.some((event) => event.prevKv !== undefined);
