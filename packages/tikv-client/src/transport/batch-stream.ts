import { type Clock, GrpcCode, type Timer } from '@engram/core';
import { type Codec, Reader, WireError, Writer } from '@engram/protobuf';
import { TikvError } from '../errors.ts';
import type { Observer } from '../observer.ts';
import { endError } from '../runtime/call.ts';
import { Gathering } from './gathering.ts';
import { type Channel, type MessageStream, TransportError, unavailable } from './transport.ts';

/** A message is sent when it has this size, even if more requests wait: one large request must not delay many small ones. */
const MESSAGE_BYTES = 1 << 20;
const MESSAGE_REQUESTS = 256;
/** Maximal requests without an answer on one stream. Further requests fail as if the store were busy. */
const IN_FLIGHT_MAX = 32_768;
/**
 * What a store has not taken yet. Further requests fail as if the store were busy. The one large transaction that a caller may have
 * under way (`concurrency` requests of `writeBatchBytes`) is not more.
 */
export const WAITING_BYTES_MAX = 64 << 20;
/** A store that takes none of so many bytes for this long is left: requests that are refused do not wait, and so never find it silent. */
export const STUCK_MS = 5_000;
const SWEEP_MS = 50;
/** If a store with outstanding answers sends nothing for this long, its health is checked. */
const SILENCE_MS = 1_000;

const BYTES_WAIT = 'too many bytes wait for this store';
const busy = (why: string): TransportError => new TransportError(GrpcCode.RESOURCE_EXHAUSTED, why, { unsent: true });

interface Waiter {
  readonly id: number;
  readonly field: number;
  readonly request: unknown;
  readonly requestCodec: Codec<unknown, unknown>;
  readonly responseCodec: Codec<unknown, unknown>;
  readonly deadlineMs: number;
  readonly resolve: (response: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly signal: AbortSignal | undefined;
  abort: (() => void) | undefined;
}

export interface BatchStreamEvents {
  /** Called once, as the last event. */
  end(error: TransportError): void;
  /** The store has outstanding answers and has sent nothing for SILENCE_MS. Repeated while that lasts. */
  silent(): void;
}

/**
 * All requests to one store on one stream (tikvpb.Tikv/BatchCommands). Requests of one turn of the event loop leave in one
 * message (a lone request sooner, see Gathering). Answers come in any order. TiKV may never answer a request that it cannot
 * serve, so each request has its own deadline. When the stream ends, every waiting request fails once. A stream is not opened
 * again: its successor has its own ids.
 */
export class BatchStream {
  readonly #clock: Clock;
  readonly #observer: Observer;
  readonly #storeId: number;
  readonly #stream: MessageStream;
  readonly #waiting = new Map<number, Waiter>();
  readonly #events: BatchStreamEvents;
  #heardMs: number;
  #queue: Waiter[] = [];
  #lastId = 0;
  #flushPlanned = false;
  readonly #gathering = new Gathering();
  #sweep: Timer | undefined;
  #ended: TransportError | undefined;
  /** Since when so many bytes wait, while no more may. */
  #full: { readonly bytes: number; readonly sinceMs: number } | undefined;
  readonly #writer = new Writer(16_384);

  constructor(channel: Channel, clock: Clock, observer: Observer, storeId: number, events: BatchStreamEvents) {
    this.#clock = clock;
    this.#observer = observer;
    this.#storeId = storeId;
    this.#events = events;
    this.#heardMs = clock.nowMs();
    this.#stream = channel.stream('/tikvpb.Tikv/BatchCommands', {
      message: (bytes) => this.#receive(bytes),
      end: (error) => this.#end(error),
    });
  }

  get inFlight(): number {
    return this.#waiting.size;
  }

  send<Request, Response>(
    field: number,
    requestCodec: Codec<unknown, Request>,
    responseCodec: Codec<Response, unknown>,
    request: Request,
    deadlineMs: number,
    signal: AbortSignal | undefined,
  ): Promise<Response> {
    return new Promise<Response>((resolve, reject) => {
      if (this.#ended !== undefined) {
        reject(this.#ended);
        return;
      }
      if (signal?.aborted) {
        reject(endError(signal));
        return;
      }
      const refusal = this.#refusal();
      if (refusal !== undefined) {
        reject(refusal);
        return;
      }
      this.#lastId += 1;
      const waiter: Waiter = {
        id: this.#lastId,
        field,
        request,
        requestCodec: requestCodec as Codec<unknown, unknown>,
        responseCodec,
        deadlineMs,
        resolve: resolve as (response: unknown) => void,
        reject,
        signal,
        abort: undefined,
      };
      if (signal !== undefined) {
        waiter.abort = () => this.#settle(waiter)?.reject(endError(signal));
        signal.addEventListener('abort', waiter.abort, { once: true });
      }
      if (this.#waiting.size === 0) this.#heardMs = this.#clock.nowMs();
      this.#waiting.set(waiter.id, waiter);
      this.#queue.push(waiter);
      if (!this.#flushPlanned) {
        this.#flushPlanned = true;
        const flush = (): void => this.#flush();
        if (this.#waiting.size === 1) this.#gathering.plan(this.#clock, flush);
        else this.#clock.soon(flush);
      }
      this.#sweep ??= this.#clock.after(SWEEP_MS, () => this.#expire());
    });
  }

  /** Ends the stream as if the connection had failed. */
  fail(error: TransportError): void {
    this.#end(error);
    this.#stream.cancel();
  }

  #refusal(): TransportError | undefined {
    if (this.#waiting.size >= IN_FLIGHT_MAX) return busy('too many requests wait for this store');
    const { waitingBytes } = this.#stream;
    if (waitingBytes < WAITING_BYTES_MAX) {
      this.#full = undefined;
      return undefined;
    }
    const nowMs = this.#clock.nowMs();
    if (this.#full === undefined || waitingBytes < this.#full.bytes)
      this.#full = { bytes: waitingBytes, sinceMs: nowMs };
    else if (nowMs - this.#full.sinceMs >= STUCK_MS) this.fail(unavailable('the store takes no bytes', { lost: true }));
    return busy(BYTES_WAIT);
  }

  #settle(waiter: Waiter): Waiter | undefined {
    if (!this.#waiting.delete(waiter.id)) return undefined;
    if (waiter.abort !== undefined) waiter.signal?.removeEventListener('abort', waiter.abort);
    if (this.#waiting.size === 0) {
      this.#sweep?.cancel();
      this.#sweep = undefined;
    }
    return waiter;
  }

  #expire(): void {
    this.#sweep = undefined;
    const nowMs = this.#clock.nowMs();
    for (const waiter of this.#waiting.values()) {
      if (waiter.deadlineMs > nowMs) continue;
      this.#settle(waiter)?.reject(new TransportError(GrpcCode.DEADLINE_EXCEEDED, 'the store did not answer in time'));
    }
    if (this.#waiting.size === 0) return;
    this.#sweep = this.#clock.after(SWEEP_MS, () => this.#expire());
    if (nowMs - this.#heardMs < SILENCE_MS) return;
    this.#heardMs = nowMs;
    this.#events.silent();
  }

  #flush(): void {
    this.#flushPlanned = false;
    const queue = this.#queue;
    this.#queue = [];
    let last = queue.length - 1;
    while (last >= 0 && this.#ended === undefined) {
      if (this.#stream.waitingBytes >= WAITING_BYTES_MAX) {
        for (const waiter of queue.slice(0, last + 1)) this.#settle(waiter)?.reject(busy(BYTES_WAIT));
        return;
      }
      last = this.#writeMessage(queue, last);
    }
  }

  /**
   * Writes one message of the requests that end at position `last`. Returns the last position of the next message. Fields are
   * written from the last to the first, as Writer requires.
   */
  #writeMessage(queue: readonly Waiter[], last: number): number {
    const writer = this.#writer;
    let first = last;
    let count = 0;
    let wanted = 0;
    const ids: number[] = [];
    for (; first >= 0 && count < MESSAGE_REQUESTS && writer.length < MESSAGE_BYTES; first -= 1) {
      count += 1;
      const waiter = queue[first]!;
      if (!this.#waiting.has(waiter.id)) continue; // its caller gave up before it was sent
      wanted += 1;
      ids.push(waiter.id);
      const outer = writer.length;
      waiter.requestCodec.write(writer, waiter.request);
      writer.varint(writer.length - outer);
      writer.varint((waiter.field << 3) | 2);
      writer.varint(writer.length - outer);
      writer.varint((1 << 3) | 2);
    }
    if (wanted === 0) return first;
    // Packed ids in the order of the requests. They come first in the message: its fields may have any order.
    const end = writer.length;
    for (const id of ids) writer.varint(id);
    writer.varint(writer.length - end);
    writer.varint((2 << 3) | 2);
    const bytes = writer.finish();
    this.#gathering.sent(wanted);
    this.#observer.batch?.(this.#storeId, wanted, bytes.length);
    this.#stream.write(bytes);
    return first;
  }

  #receive(bytes: Uint8Array): void {
    this.#heardMs = this.#clock.nowMs();
    try {
      const reader = new Reader(bytes);
      const bodies: number[] = [];
      const ids: number[] = [];
      while (reader.more()) {
        const tag = reader.tag();
        if (tag === ((1 << 3) | 2)) {
          const outer = reader.enter();
          bodies.push(reader.at, reader.end);
          reader.seek(reader.end, outer);
        } else if (tag === ((2 << 3) | 2)) {
          const outer = reader.enter();
          while (reader.more()) ids.push(reader.count());
          reader.leave(outer);
        } else if (tag === 2 << 3) ids.push(reader.count());
        else reader.skip(tag);
      }
      if (ids.length * 2 !== bodies.length) throw new WireError('answers and their ids differ in number');
      for (let at = 0; at < ids.length; at += 1) this.#answer(reader, ids[at]!, bodies[at * 2]!, bodies[at * 2 + 1]!);
    } catch (cause) {
      this.fail(new TransportError(GrpcCode.INTERNAL, 'the store sent a damaged message', { cause }));
    }
  }

  #answer(reader: Reader, id: number, from: number, to: number): void {
    const found = this.#waiting.get(id);
    const waiter = found === undefined ? undefined : this.#settle(found);
    if (waiter === undefined) return; // its caller has given up
    reader.seek(from, to);
    try {
      while (reader.more()) {
        const tag = reader.tag();
        if (tag === ((waiter.field << 3) | 2)) {
          reader.enter();
          waiter.resolve(waiter.responseCodec.read(reader));
          return;
        }
        reader.skip(tag);
      }
      throw new WireError('the answer is of another kind than the request');
    } catch (cause) {
      waiter.reject(new TikvError('protocol-error', undefined, { cause }));
    }
  }

  #end(error: TransportError): void {
    if (this.#ended !== undefined) return;
    this.#ended = error;
    this.#queue = [];
    for (const waiter of [...this.#waiting.values()]) this.#settle(waiter)?.reject(error);
    this.#events.end(error);
  }
}
