import type { Clock, Timer } from '@engram/core';
import { assert, GrpcCode } from '@engram/core';
import { decode, encode } from '@engram/protobuf';
import { composeTimestamp, MAX_TIMESTAMP, physicalMs, type Timestamp } from '../codec/timestamp.ts';
import { TikvError } from '../errors.ts';
import type { Observer } from '../observer.ts';
import { TsoRequestCodec, type TsoResponse, TsoResponseCodec } from '../proto/gen/pdpb.ts';
import { Call, endOf } from '../runtime/call.ts';
import { Gathering } from '../transport/gathering.ts';
import { type Channel, type MessageStream, TransportError, unavailable } from '../transport/transport.ts';
import type { PdMembers } from './pd-members.ts';

/** Maximal timestamps of one request, and so of one caller. */
export const TIMESTAMPS_MAX = 20_000;
const SWEEP_MS = 50;

interface Waiter {
  /** Number of consecutive timestamps that the caller gets. */
  readonly count: number;
  readonly resolve: (first: Timestamp) => void;
  readonly reject: (error: Error) => void;
  readonly call: Call;
  abort: (() => void) | undefined;
  settled: boolean;
}

/**
 * Timestamps from PD. Callers that ask while a request is under way share the next request. Only one request is under way at a
 * time, so every answer must lie above the one before, even on another stream. A timestamp lost with its stream does no harm:
 * its callers wait for the next one, until their own deadlines.
 */
export class TimestampOracle {
  readonly #members: PdMembers;
  readonly #clock: Clock;
  readonly #observer: Observer;
  readonly #timeoutMs: number;
  readonly #lifetime: Call;
  readonly #onFatal: (error: TikvError) => void;
  #queue: Waiter[] = [];
  /** The waiters of the request under way. */
  #asking: readonly Waiter[] = [];
  #running = false;
  readonly #gathering = new Gathering();
  #fatal: TikvError | undefined;
  #stream: { readonly channel: Channel; readonly stream: MessageStream } | undefined;
  #answer: ((answer: TsoResponse | TransportError) => void) | undefined;
  #last: Timestamp = 0n;
  #lastAtMs = 0;
  #sweep: Timer | undefined;

  constructor(
    members: PdMembers,
    options: {
      clock: Clock;
      observer: Observer;
      timeoutMs: number;
      closing: AbortSignal;
      onFatal: (error: TikvError) => void;
    },
  ) {
    this.#members = members;
    this.#clock = options.clock;
    this.#observer = options.observer;
    this.#timeoutMs = options.timeoutMs;
    this.#lifetime = new Call(options.clock, Number.POSITIVE_INFINITY, undefined, options.closing);
    this.#onFatal = options.onFatal;
  }

  /** A timestamp above all that PD has dealt to any client before the call. */
  next(call: Call): Promise<Timestamp> {
    return this.first(1, call);
  }

  /** The first of `count` consecutive timestamps that only this caller gets. @param count at most `TIMESTAMPS_MAX` */
  first(count: number, call: Call): Promise<Timestamp> {
    return new Promise((resolve, reject) => {
      if (this.#fatal !== undefined) {
        reject(this.#fatal);
        return;
      }
      call.check();
      const waiter: Waiter = { count, resolve, reject, call, abort: undefined, settled: false };
      const { signal } = call;
      if (signal !== undefined) {
        waiter.abort = () => this.#settle(waiter)?.reject(endOf(signal));
        signal.addEventListener('abort', waiter.abort, { once: true });
      }
      this.#queue.push(waiter);
      this.#sweep ??= this.#clock.after(SWEEP_MS, () => this.#expire());
      if (!this.#running) {
        this.#running = true;
        this.#gathering.plan(this.#clock, () => void this.#run());
      }
    });
  }

  /** The newest timestamp that PD has dealt to this client; 0 before its first answer. */
  get newest(): Timestamp {
    return this.#last;
  }

  /**
   * The approximate time of PD's clock, in milliseconds since 1970. It is for measuring ages, not for making timestamps,
   * because TiKV refuses a timestamp that PD has not dealt. The local clock only measures the time since PD's last answer.
   * 0 before the first answer.
   */
  nowMs(): number {
    return this.#last === 0n ? 0 : physicalMs(this.#last) + this.#clock.nowMs() - this.#lastAtMs;
  }

  /**
   * Makes sure that PD has dealt `timestamp` or a later one to some client, because TiKV ends its process over a timestamp from
   * the future. Undefined if this client knows that PD has. A promise if PD must be asked. Throws `future-timestamp`.
   */
  check(timestamp: Timestamp, call: Call): Promise<void> | undefined {
    return timestamp <= this.#last || timestamp === MAX_TIMESTAMP ? undefined : this.#checkAtPd(timestamp, call);
  }

  async #checkAtPd(timestamp: Timestamp, call: Call): Promise<void> {
    const now = await this.next(call);
    if (timestamp > now) throw new TikvError('future-timestamp', `${timestamp} is above ${now}`);
  }

  /** The age of a timestamp by PD's clock, in milliseconds. 0 before the first answer of PD. */
  ageMs(timestamp: Timestamp): number {
    return Math.max(0, this.nowMs() - physicalMs(timestamp));
  }

  close(): void {
    this.#dropStream();
    for (const waiter of [...this.#asking, ...this.#queue.splice(0)])
      this.#settle(waiter)?.reject(new TikvError('closed'));
    this.#sweep?.cancel();
    this.#sweep = undefined;
  }

  #settle(waiter: Waiter): Waiter | undefined {
    if (waiter.settled) return undefined;
    waiter.settled = true;
    if (waiter.abort !== undefined) waiter.call.signal?.removeEventListener('abort', waiter.abort);
    return waiter;
  }

  #expire(): void {
    this.#sweep = undefined;
    for (const waiter of [...this.#asking, ...this.#queue]) {
      if (waiter.call.remainingMs() <= 0)
        this.#settle(waiter)?.reject(waiter.call.late(unavailable('no timestamp came')));
    }
    this.#queue = this.#queue.filter(({ settled }) => !settled);
    const left = this.#queue.length > 0 || this.#asking.some(({ settled }) => !settled);
    if (left) this.#sweep = this.#clock.after(SWEEP_MS, () => this.#expire());
  }

  async #run(): Promise<void> {
    let failures = 0;
    try {
      while (this.#queue.length > 0 && this.#fatal === undefined) {
        const waiting = this.#queue.filter((waiter) => !waiter.settled);
        let count = 0;
        let end = 0;
        while (end < waiting.length && count + waiting[end]!.count <= TIMESTAMPS_MAX) {
          count += waiting[end]!.count;
          end += 1;
        }
        const batch = waiting.slice(0, end);
        this.#queue = waiting.slice(end);
        if (count === 0) continue;
        const startMs = this.#clock.nowMs();
        this.#asking = batch;
        const answer = await this.#request(count);
        this.#asking = [];
        if (answer instanceof TransportError) {
          this.#queue = batch.concat(this.#queue); // the batch stays before later callers
          this.#sweep ??= this.#clock.after(SWEEP_MS, () => this.#expire());
          this.#dropStream();
          failures += 1;
          await this.#members.refresh(this.#lifetime).catch((error: unknown) => {
            if (error instanceof TikvError && (error.code === 'closed' || error.code === 'aborted')) throw error;
          });
          if (failures > 1) await this.#lifetime.sleep(Math.min(100, 10 * 2 ** Math.min(failures, 4)));
          continue;
        }
        failures = 0;
        this.#observer.timestamps?.(count, this.#clock.nowMs() - startMs);
        this.#gathering.sent(batch.length);
        this.#deal(answer, count, batch);
      }
    } catch (error) {
      const reason =
        error instanceof TikvError ? error : new TikvError('pd-unreachable', String(error), { cause: error });
      for (const waiter of this.#queue.splice(0)) this.#settle(waiter)?.reject(reason);
    } finally {
      this.#running = false;
      if (this.#queue.length === 0) {
        this.#sweep?.cancel();
        this.#sweep = undefined;
      }
    }
  }

  async #request(count: number): Promise<TsoResponse | TransportError> {
    assert(count > 0, 'PD ends a stream that asks for no timestamp');
    let channel: Channel;
    try {
      channel = await this.#members.leader(this.#lifetime);
    } catch (error) {
      if (error instanceof TikvError && error.code === 'pd-unreachable') return unavailable(error.message);
      throw error;
    }
    if (this.#stream?.channel !== channel) {
      this.#dropStream();
      this.#open(channel);
    }
    return new Promise((resolve) => {
      const timer = this.#clock.after(this.#timeoutMs, () =>
        this.#answer?.(new TransportError(GrpcCode.DEADLINE_EXCEEDED, 'PD did not answer')),
      );
      this.#answer = (answer) => {
        this.#answer = undefined;
        timer.cancel();
        resolve(answer);
      };
      this.#stream?.stream.write(
        encode(TsoRequestCodec, { header: { clusterId: this.#members.clusterId }, count, dcLocation: 'global' }),
      );
    });
  }

  #open(channel: Channel): void {
    const stream = channel.stream('/pdpb.PD/Tso', {
      message: (bytes) => {
        if (this.#stream?.stream !== stream) return;
        try {
          this.#answer?.(decode(TsoResponseCodec, bytes));
        } catch (cause) {
          this.#answer?.(new TransportError(GrpcCode.INTERNAL, 'PD sent a damaged message', { cause }));
        }
      },
      end: (error) => {
        // If no request is under way, the next request opens a new stream.
        if (this.#stream?.stream !== stream) return;
        this.#stream = undefined;
        this.#answer?.(error);
      },
    });
    this.#stream = { channel, stream };
  }

  #dropStream(): void {
    const held = this.#stream;
    this.#stream = undefined;
    held?.stream.cancel();
  }

  #deal(answer: TsoResponse, count: number, batch: readonly Waiter[]): void {
    const { timestamp, header } = answer;
    if (header?.error !== undefined && header.error.type !== 0) {
      this.#stop(new TikvError('pd-error', header.error.message), batch);
      return;
    }
    if (timestamp === undefined || answer.count !== count || timestamp.suffixBits !== 0) {
      this.#stop(new TikvError('protocol-error', 'PD answered with other timestamps than were asked for'), batch);
      return;
    }
    // The answer names the last timestamp of the batch. The first caller gets the lowest.
    const last = composeTimestamp(timestamp.physical, timestamp.logical);
    const first = last - BigInt(count - 1);
    if (first <= this.#last) {
      this.#stop(new TikvError('timestamp-regression', `${first} after ${this.#last}`), batch);
      return;
    }
    this.#last = last;
    this.#lastAtMs = this.#clock.nowMs();
    let next = first;
    for (const waiter of batch) {
      this.#settle(waiter)?.resolve(next);
      next += BigInt(waiter.count);
    }
  }

  /** Ends the client after wrong timestamps, because snapshot isolation depends on them. */
  #stop(error: TikvError, batch: readonly Waiter[]): void {
    this.#fatal = error;
    for (const waiter of batch) this.#settle(waiter)?.reject(error);
    for (const waiter of this.#queue.splice(0)) this.#settle(waiter)?.reject(error);
    this.#dropStream();
    this.#onFatal(error);
  }
}
