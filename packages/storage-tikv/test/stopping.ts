import type { Clock } from '@engram/core';
import type { Prng, Scheduler } from '@engram/sim';
import { SimHost, type SimProcess } from '@engram/sim';
import type { FakeCluster } from '@engram/tikv-client/testing';

type Transport = FakeCluster['transport'];
type StreamEvents = Parameters<ReturnType<Transport['connect']>['stream']>[1];

/** Lets what passes a node's way to the stores wait. */
interface Gate {
  /** Resolves when a request may leave. */
  leaves(): Promise<void>;
  /** Resolves when answers pass again. Undefined if they pass. */
  readonly closed: Promise<void> | undefined;
}

/** The transport behind a gate. Nothing is lost, and the messages of a stream keep their order. */
function gated(inner: Transport, gate: Gate): Transport {
  const whenOpen = (deliver: () => void): void => {
    if (gate.closed === undefined) deliver();
    else void gate.closed.then(() => whenOpen(deliver));
  };
  return {
    connect: (address, secure) => {
      const channel = inner.connect(address, secure);
      return {
        unary: async (method, request, options) => {
          await gate.leaves();
          const answer = await channel.unary(method, request, options);
          await gate.closed;
          return answer;
        },
        stream: (method, events, metadata) => {
          const held: StreamEvents = {
            message: (bytes) => whenOpen(() => events.message(bytes)),
            end: (error) => whenOpen(() => events.end(error)),
          };
          const stream = channel.stream(method, held, metadata);
          let before: Promise<void> = Promise.resolve();
          return {
            get waitingBytes() {
              return stream.waitingBytes;
            },
            write: (bytes) => {
              const leaves = gate.leaves();
              before = before.then(() => leaves).then(() => stream.write(bytes));
            },
            cancel: () => stream.cancel(),
          };
        },
        close: () => channel.close(),
      };
    },
  };
}

/** A node's way to the stores, on which everything can be held up for a while, as by a network that is cut. */
export class HeldWay implements Gate {
  readonly #clock: Clock;
  #passing = 0;
  closed: Promise<void> | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Holds up all answers from now on, and all requests but the next ones. */
  hold(ms: number, requests = 0): void {
    if (this.closed !== undefined) return;
    this.#passing = requests;
    this.closed = new Promise<void>((resolve) => void this.#clock.after(ms, resolve)).then(() => {
      this.closed = undefined;
    });
  }

  async leaves(): Promise<void> {
    if (this.#passing > 0) this.#passing -= 1;
    else await this.closed;
  }

  transport(inner: Transport): Transport {
    return gated(inner, this);
  }
}

/** A process that can be stopped at any of its requests, as by SIGSTOP, together with its way to the stores. */
export class StoppableProcess implements Gate {
  readonly #process: SimProcess;
  /** Requests that were sent since `stopAt` was called. */
  #sent = 0;
  #stop: { readonly step: number; readonly executed: boolean; readonly meanwhile: () => Promise<void> } | undefined;
  closed: Promise<void> | undefined;

  constructor(scheduler: Scheduler, random: Prng) {
    this.#process = new SimHost(scheduler, { name: 'stoppable', random, wallMs: 1_700_000_000_000 }).start();
  }

  get clock(): Clock {
    return this.#process.clock;
  }

  /**
   * Stops the process at its `step`-th request from now on, until `meanwhile` has resolved: before the request leaves, or, if
   * `executed`, when it has left, but before the answer is read.
   */
  stopAt(step: number, executed: boolean, meanwhile: () => Promise<void>): void {
    this.#sent = 0;
    this.#stop = { step, executed, meanwhile };
  }

  /** Whether the step was reached. */
  get wasStopped(): boolean {
    return this.#stop === undefined;
  }

  transport(inner: Transport): Transport {
    return gated(inner, this);
  }

  async leaves(): Promise<void> {
    this.#sent += 1;
    const stop = this.#stop;
    if (stop === undefined || this.#sent !== stop.step) return;
    this.#stop = undefined;
    this.#process.pause();
    this.closed = stop.meanwhile().finally(() => {
      this.closed = undefined;
      this.#process.resume();
    });
    if (!stop.executed) await this.closed;
  }
}
