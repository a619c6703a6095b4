import type { EventGroup, KvEvent } from '@engram/core';
import { encodeEvents, encodeWatchResponse, type EncodedEvents, type Message } from '@engram/wire';

/** A whole response that was sent for a group; many clients' streams have but one watcher, so ids repeat. */
interface SentResponse {
  readonly watchId: number;
  readonly headerRevision: number;
  readonly message: Message;
}

interface GroupBytes {
  events: EncodedEvents | undefined;
  response: SentResponse | undefined;
}

/**
 * Responses to watchers. Watchers that match the same events of a revision are given the same group, so its events are
 * encoded once for all of them (once more where only some want prev_kv), and where watch id and header are the same too,
 * the whole response is. The bytes live as long as the group does.
 */
export class EventMemo {
  readonly #headerBytes: (revision: number) => Uint8Array;
  readonly #plain = new WeakMap<EventGroup, GroupBytes>();
  readonly #withPrevKv = new WeakMap<EventGroup, GroupBytes>();

  constructor(headerBytes: (revision: number) => Uint8Array) {
    this.#headerBytes = headerBytes;
  }

  response(watchId: number, prevKv: boolean, groups: readonly EventGroup[], headerRevision: number): Message {
    const [first] = groups;
    if (groups.length > 1 || first === undefined) {
      // A page of history: nobody else has these very groups.
      const events: KvEvent[] = [];
      for (const group of groups) for (const event of group.events) events.push(event);
      return this.#assemble(watchId, headerRevision, encodeEvents(events, prevKv));
    }
    const bytes = this.#of(first, prevKv && hasPrevKv(first));
    const sent = bytes.response;
    if (sent !== undefined && sent.watchId === watchId && sent.headerRevision === headerRevision) return sent.message;
    bytes.events ??= encodeEvents(first.events, prevKv);
    const message = this.#assemble(watchId, headerRevision, bytes.events);
    bytes.response = { watchId, headerRevision, message };
    return message;
  }

  #of(group: EventGroup, withPrevKv: boolean): GroupBytes {
    const memo = withPrevKv ? this.#withPrevKv : this.#plain;
    let bytes = memo.get(group);
    if (bytes === undefined) {
      bytes = { events: undefined, response: undefined };
      memo.set(group, bytes);
    }
    return bytes;
  }

  #assemble(watchId: number, headerRevision: number, events: EncodedEvents): Message {
    return encodeWatchResponse({ header: this.#headerBytes(headerRevision), watchId }, [events]);
  }
}

const hasPrevKv = (group: EventGroup): boolean => group.events.some((event) => event.prevKv !== undefined);
