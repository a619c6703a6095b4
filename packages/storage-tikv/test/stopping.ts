import type { Clock } from '@engram/core';
import type { Prng, Scheduler } from '@engram/sim';
import { SimHost, type SimProcess } from '@engram/sim';
import type { FakeCluster } from '@engram/tikv-client/testing';

type Transport = FakeCluster['transport'];
type Channel = ReturnType<Transport['connect']>;
type StreamEvents = Parameters<Channel['stream']>[1];

/** A process that can be stopped at any of its requests, as by SIGSTOP, together with its way to the stores. */
export class StoppableProcess {
  readonly #process: SimProcess;
  /** Requests that were sent since `stopAt` was called. */
  #sent = 0;
  #stop: { readonly step: number; readonly executed: boolean; readonly meanwhile: () => Promise<void> } | undefined;
  /** Resolves when the process runs again. Undefined while it runs. */
  #stopped: Promise<void> | undefined;

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
    return { connect: (address, secure) => this.#channel(inner.connect(address, secure)) };
  }

  #channel(inner: Channel): Channel {
    return {
      unary: async (method, request, options) => {
        await this.#leaves();
        const answer = await inner.unary(method, request, options);
        await this.#stopped;
        return answer;
      },
      stream: (method, events, metadata) => {
        const held: StreamEvents = {
          message: (bytes) => this.#whenRunning(() => events.message(bytes)),
          end: (error) => this.#whenRunning(() => events.end(error)),
        };
        const stream = inner.stream(method, held, metadata);
        let before: Promise<void> = Promise.resolve();
        return {
          // The messages of a stream keep their order.
          write: (bytes) => {
            const leaves = this.#leaves();
            before = before.then(() => leaves).then(() => stream.write(bytes));
          },
          cancel: () => stream.cancel(),
        };
      },
      close: () => inner.close(),
    };
  }

  #whenRunning(deliver: () => void): void {
    if (this.#stopped === undefined) deliver();
    else void this.#stopped.then(() => this.#whenRunning(deliver));
  }

  /** Resolves when the request of this step may leave. */
  async #leaves(): Promise<void> {
    this.#sent += 1;
    const stop = this.#stop;
    if (stop === undefined || this.#sent !== stop.step) return;
    this.#stop = undefined;
    this.#process.pause();
    this.#stopped = stop.meanwhile().finally(() => {
      this.#stopped = undefined;
      this.#process.resume();
    });
    if (!stop.executed) await this.#stopped;
  }
}
