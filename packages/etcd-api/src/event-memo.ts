import type { EventGroup, Int64, KvEvent } from '@engram/core';
import type { Loop, PureJob, Task } from '@engram/loop';
import {
  encodeEvents,
  encodeWatchFragments,
  encodeWatchResponse,
  type EncodedEvents,
  joinWatchFragments,
  type Message,
} from '@engram/wire';

/** A whole response that was sent. Many clients have one watcher on a stream, so watch ids repeat. */
interface SentResponse {
  readonly watchId: Int64;
  readonly headerRevision: number;
  readonly message: Message;
}

/** The events of an array of groups, encoded. */
interface Encoded {
  /** In order. */
  readonly blocks: readonly EncodedEvents[];
  response: SentResponse | undefined;
}

/** The encodings of one array of groups. `plain` and `withPrevKv` are one object if no event has a superseded version. */
interface Known {
  plain: Encoded | undefined;
  withPrevKv: Encoded | undefined;
  /** Promises of the encodings that wait for a slice. */
  readonly preparing: [plain: Promise<void> | undefined, withPrevKv: Promise<void> | undefined];
}

/** Bounds of one block: events, and bytes. An event above the bytes has a block of its own. */
const BLOCK_EVENTS_MAX = 500;
const BLOCK_BYTES_MAX = 64 * 1024;
/** Watchers of many clients share what is encoded. */
const ENCODE: Task = { work: 'client', caller: 'events', stage: 'encode' };

/**
 * Responses to watchers. Watchers that match the same events of a batch get the same array of groups, so its events are
 * encoded once for all of them, and a second time if only some want prev_kv. If watch id and header are the same too,
 * the whole response is reused. The bytes live as long as the array.
 */
export class EventMemo {
  readonly #headerBytes: (revision: number) => Uint8Array;
  readonly #loop: Loop;
  readonly #known = new WeakMap<readonly EventGroup[], Known>();
  /** The end of the last encoding that was asked for. They run one after the other. */
  #last: Promise<void> = Promise.resolve();

  constructor(headerBytes: (revision: number) => Uint8Array, loop: Loop) {
    this.#headerBytes = headerBytes;
    this.#loop = loop;
  }

  response(watchId: Int64, prevKv: boolean, groups: readonly EventGroup[], headerRevision: number): Message {
    const encoded = this.#encoded(groups, prevKv);
    const sent = encoded.response;
    if (sent !== undefined && sent.watchId === watchId && sent.headerRevision === headerRevision) return sent.message;
    const message = encodeWatchResponse({ header: this.#headerBytes(headerRevision), watchId }, encoded.blocks);
    encoded.response = { watchId, headerRevision, message };
    return message;
  }

  /** As `response`, in parts below `bytesMax`, cut between events. */
  fragments(
    watchId: Int64,
    prevKv: boolean,
    groups: readonly EventGroup[],
    headerRevision: number,
    bytesMax: number,
  ): readonly Message[] {
    const head = { header: this.#headerBytes(headerRevision), watchId };
    const known = this.#known.get(groups);
    const encoded = prevKv ? known?.withPrevKv : known?.plain;
    if (encoded !== undefined && encoded.blocks.length > 1) return joinWatchFragments(head, encoded.blocks, bytesMax);
    return encodeWatchFragments(head, eventsOf(groups), prevKv, bytesMax);
  }

  /** Encodes very many events as a job of the loop, for a response that follows. Undefined if they are encoded. */
  prepare(groups: readonly EventGroup[], prevKv: boolean): Promise<void> | undefined {
    const known = this.#of(groups);
    if ((prevKv ? known.withPrevKv : known.plain) !== undefined) return undefined;
    const at = prevKv ? 1 : 0;
    known.preparing[at] ??= this.#prepare(known, groups, prevKv);
    return known.preparing[at];
  }

  #prepare(known: Known, groups: readonly EventGroup[], prevKv: boolean): Promise<void> {
    this.#last = this.#last.then(() => this.#loop.run(ENCODE, this.#preparing(known, groups, prevKv)));
    return this.#last;
  }

  *#preparing(known: Known, groups: readonly EventGroup[], prevKv: boolean): PureJob<void> {
    yield; // a thousand streams may ask in one turn
    const blocks = new Blocks(groups, prevKv);
    while (blocks.left) if (this.#loop.shouldYield(blocks.encode())) yield;
    keep(known, blocks);
  }

  /** Encodes now what is not prepared. */
  #encoded(groups: readonly EventGroup[], prevKv: boolean): Encoded {
    const known = this.#of(groups);
    const there = prevKv ? known.withPrevKv : known.plain;
    if (there !== undefined) return there;
    if (known.plain !== undefined && !groups.some(supersedes)) {
      known.withPrevKv = known.plain;
      return known.plain;
    }
    const blocks = new Blocks(groups, prevKv);
    while (blocks.left) blocks.encode();
    return keep(known, blocks);
  }

  #of(groups: readonly EventGroup[]): Known {
    let known = this.#known.get(groups);
    if (known === undefined) {
      known = { plain: undefined, withPrevKv: undefined, preparing: [undefined, undefined] };
      this.#known.set(groups, known);
    }
    return known;
  }
}

/** Encodes events of groups, a block at a time. */
class Blocks {
  readonly #groups: readonly EventGroup[];
  readonly withPrevKv: boolean;
  readonly encoded: EncodedEvents[] = [];
  /** One of the events that are encoded has a superseded version, and that was asked for. */
  superseded = false;
  /** The event that is next. */
  #group = 0;
  #event = 0;

  constructor(groups: readonly EventGroup[], withPrevKv: boolean) {
    this.#groups = groups;
    this.withPrevKv = withPrevKv;
  }

  get left(): boolean {
    return this.#group < this.#groups.length;
  }

  /** Encodes the next block. Returns the number of its events. */
  encode(): number {
    const block = this.#next();
    this.encoded.push(encodeEvents(block, this.withPrevKv));
    return block.length;
  }

  #next(): readonly KvEvent[] {
    const whole = this.#wholeGroup();
    if (whole !== undefined) return whole;
    const block: KvEvent[] = [];
    let bytes = 0;
    for (; this.#group < this.#groups.length; this.#group += 1) {
      const { events } = this.#groups[this.#group]!;
      for (; this.#event < events.length; this.#event += 1) {
        const event = events[this.#event]!;
        const { kv, prevKv } = event;
        const size = kv.length + (this.withPrevKv && prevKv !== undefined ? prevKv.length : 0);
        if (block.length === BLOCK_EVENTS_MAX || (block.length > 0 && bytes + size > BLOCK_BYTES_MAX)) return block;
        block.push(event);
        bytes += size;
        if (this.withPrevKv && prevKv !== undefined) this.superseded = true;
      }
      this.#event = 0;
    }
    return block;
  }

  /** The events of the only group if they are one block, as nearly always: they are not copied. */
  #wholeGroup(): readonly KvEvent[] | undefined {
    if (this.#groups.length > 1 || this.#event > 0) return undefined;
    const { events } = this.#groups[0]!;
    if (events.length > BLOCK_EVENTS_MAX) return undefined;
    let bytes = 0;
    let superseded = false;
    for (const { kv, prevKv } of events) {
      bytes += kv.length;
      if (prevKv === undefined || !this.withPrevKv) continue;
      bytes += prevKv.length;
      superseded = true;
    }
    if (bytes > BLOCK_BYTES_MAX && events.length > 1) return undefined;
    this.superseded = superseded;
    this.#group = 1;
    return events;
  }
}

function keep(known: Known, { encoded, withPrevKv, superseded }: Blocks): Encoded {
  const kept: Encoded = { blocks: encoded, response: undefined };
  if (withPrevKv) known.withPrevKv ??= kept;
  if (!superseded) known.plain ??= kept;
  return kept;
}

function eventsOf(groups: readonly EventGroup[]): readonly KvEvent[] {
  const [first] = groups;
  if (first !== undefined && groups.length === 1) return first.events;
  const events: KvEvent[] = [];
  for (const group of groups) for (const event of group.events) events.push(event);
  return events;
}

const supersedes = ({ events }: EventGroup): boolean => events.some(({ prevKv }) => prevKv !== undefined);
