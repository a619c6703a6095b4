import { GrpcCode } from '@engram/core';
import type { Prng, SimProcess } from '@engram/sim';
import {
  type Channel,
  type MessageStream,
  type StreamEvents,
  type Transport,
  TransportError,
  type UnaryOptions,
} from '@engram/tikv-client/testing';

export interface TikvWayOptions {
  readonly inner: Transport;
  readonly process: SimProcess;
  readonly random: Prng;
  /** Delay of one way. */
  readonly delayMsMax: number;
}

/** Time between two messages of one connection, which must keep their order. */
const ORDER_MS = 1e-5;
/** The inner timeout of a call. The caller's own clock decides before. */
const LATE_MS = 3_600_000;

const reset = (): TransportError => new TransportError(GrpcCode.UNAVAILABLE, 'connection reset', { lost: true });

/**
 * The way of one process to PD and the stores. What was sent arrives, even if its sender is paused or dead by then; an answer
 * waits for a paused process, and never reaches a dead one. While the way is cut, messages of both directions wait, as TCP
 * sends them again. When it is whole, a connection either delivers them or is reset.
 */
export class TikvWay implements Transport {
  readonly options: TikvWayOptions;
  readonly #channels = new Set<WayChannel>();
  isCut = false;
  /** Messages to the stores wait for this time of the scheduler. */
  stalledUntilMs = 0;
  /** The same for their answers. */
  answersFromMs = 0;

  constructor(options: TikvWayOptions) {
    this.options = options;
  }

  connect(address: string, secure: boolean): Channel {
    const channel = new WayChannel(this, this.options.inner.connect(address, secure), () =>
      this.#channels.delete(channel),
    );
    this.#channels.add(channel);
    return channel;
  }

  cut(): void {
    this.isCut = true;
  }

  stall(ms: number): void {
    this.stalledUntilMs = Math.max(this.stalledUntilMs, this.nowMs + ms);
  }

  stallAnswers(ms: number): void {
    this.answersFromMs = Math.max(this.answersFromMs, this.nowMs + ms);
  }

  /** All connections break. What was sent has arrived or not. */
  reset(): void {
    for (const channel of [...this.#channels]) channel.reset();
  }

  heal(): void {
    this.stalledUntilMs = 0;
    this.answersFromMs = 0;
    if (!this.isCut) return;
    this.isCut = false;
    for (const channel of [...this.#channels]) channel.healed(this.options.random.chance(0.5));
  }

  get nowMs(): number {
    return this.options.process.host.scheduler.nowMs;
  }
}

/** Delivers in order, each message after a delay of its own. */
class Lane {
  readonly #way: TikvWay;
  readonly #fire: (ms: number, fire: () => void) => void;
  readonly #fromMs: () => number;
  #lastMs = 0;
  #held: (() => void)[] = [];

  constructor(way: TikvWay, fromMs: () => number, fire: (ms: number, fire: () => void) => void) {
    this.#way = way;
    this.#fromMs = fromMs;
    this.#fire = fire;
  }

  send(arrive: () => void): void {
    const { random, delayMsMax } = this.#way.options;
    if (this.#way.isCut) {
      this.#held.push(arrive);
      return;
    }
    const { nowMs } = this.#way;
    const atMs = Math.max(Math.max(nowMs, this.#fromMs()) + random.fraction() * delayMsMax, this.#lastMs + ORDER_MS);
    this.#lastMs = atMs;
    // What is on its way when the way is cut waits as well.
    this.#fire(atMs - nowMs, () => (this.#way.isCut ? this.#held.push(arrive) : arrive()));
  }

  healed(delivers: boolean): void {
    const held = this.#held;
    this.#held = [];
    if (delivers) for (const arrive of held) this.send(arrive);
  }
}

class WayChannel implements Channel {
  readonly #way: TikvWay;
  readonly #inner: Channel;
  readonly #onClosed: () => void;
  readonly #up: Lane;
  readonly #down: Lane;
  readonly #breaks = new Set<(error: TransportError) => void>();

  constructor(way: TikvWay, inner: Channel, onClosed: () => void) {
    const { process } = way.options;
    this.#way = way;
    this.#inner = inner;
    this.#onClosed = onClosed;
    this.#up = new Lane(
      way,
      () => way.stalledUntilMs,
      (ms, fire) => void process.host.scheduler.after(ms, fire),
    );
    this.#down = new Lane(
      way,
      () => way.answersFromMs,
      (ms, fire) => void process.after(ms, fire),
    );
  }

  unary(method: string, request: Uint8Array, { timeoutMs, signal }: UnaryOptions): Promise<Uint8Array> {
    const { process } = this.#way.options;
    return new Promise((resolve, reject) => {
      const end = (settle: () => void): void => {
        timer.cancel();
        this.#breaks.delete(broken);
        signal?.removeEventListener('abort', cancelled);
        settle();
      };
      const fail = (error: unknown): void => end(() => reject(error));
      const broken = (error: TransportError): void => fail(error);
      const cancelled = (): void => fail(new TransportError(GrpcCode.CANCELLED, 'cancelled'));
      const timer = process.clock.after(timeoutMs, () =>
        fail(new TransportError(GrpcCode.DEADLINE_EXCEEDED, 'deadline exceeded')),
      );
      signal?.addEventListener('abort', cancelled, { once: true });
      this.#breaks.add(broken);
      this.#up.send(() => {
        this.#inner.unary(method, request, { timeoutMs: LATE_MS }).then(
          (answer) => this.#down.send(() => end(() => resolve(answer))),
          (error: unknown) => this.#down.send(() => fail(error)),
        );
      });
    });
  }

  stream(method: string, events: StreamEvents, metadata?: Readonly<Record<string, string>>): MessageStream {
    let ended = false;
    const end = (error: TransportError): void => {
      if (ended) return;
      ended = true;
      this.#breaks.delete(end);
      events.end(error);
      this.#up.send(() => inner.cancel());
    };
    const inner = this.#inner.stream(
      method,
      {
        message: (bytes) => this.#down.send(() => void (ended || events.message(bytes))),
        end: (error) => this.#down.send(() => end(error)),
      },
      metadata,
    );
    this.#breaks.add(end);
    return {
      get waitingBytes() {
        return inner.waitingBytes;
      },
      write: (bytes) => {
        if (!ended) this.#up.send(() => inner.write(bytes));
      },
      cancel: () => end(new TransportError(GrpcCode.CANCELLED, 'cancelled by this client')),
    };
  }

  /** The way is whole again. */
  healed(delivers: boolean): void {
    this.#up.healed(delivers);
    this.#down.healed(delivers);
    if (!delivers) this.reset();
  }

  reset(): void {
    const { process } = this.#way.options;
    for (const broken of [...this.#breaks]) process.after(0, () => broken(reset()));
  }

  close(): void {
    for (const broken of [...this.#breaks])
      broken(new TransportError(GrpcCode.UNAVAILABLE, 'the channel is closed', { lost: true }));
    this.#onClosed();
    this.#up.send(() => this.#inner.close());
  }
}
