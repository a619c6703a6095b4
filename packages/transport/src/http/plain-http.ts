import type { ClientBudgets, Clock, Logger } from '@engram/core';
import { Loop } from '@engram/loop';
import {
  type HttpHandler,
  type HttpRequest,
  type HttpResponse,
  type ServeOptions,
  timeoutsOf,
} from '../serve-options.ts';

/**
 * The handler of requests that are not gRPC. What it does is in no slice of frames, so a request begins in a slice of its
 * own, and is answered in another one: the handlers of hundreds of requests may wait for the same event, such as the text of
 * /metrics. All of them are resumed at once, and sending an answer takes longer than asking for it.
 */
export class PlainHttp {
  readonly loop: Loop;
  readonly logger: Logger;
  readonly maxRequestBytes: number;
  readonly budgets: ClientBudgets;
  readonly #http: HttpHandler;
  readonly #clock: Clock;
  readonly #stallMs: number;

  constructor(options: ServeOptions, budgets: ClientBudgets) {
    const { http, loop, clock, logger, maxRequestBytes } = options;
    this.loop = loop ?? new Loop({ clock });
    this.logger = logger;
    this.maxRequestBytes = maxRequestBytes;
    this.budgets = budgets;
    this.#http = http;
    this.#clock = clock;
    this.#stallMs = timeoutsOf(options).stallMs;
  }

  /** Resolves in a slice of the connection, which `client` names (`StreamHost`). */
  turn(client: object): Promise<void> {
    return this.loop.pause({ work: 'client', caller: client, stage: 'http' });
  }

  /** Waits until a client has taken what was sent. One that takes nothing of it for too long is cut. */
  async patiently(taken: Promise<unknown>, cut: () => void): Promise<void> {
    const timer = this.#clock.after(this.#stallMs, cut);
    try {
      await taken;
    } finally {
      timer.cancel();
    }
  }

  async answer(request: HttpRequest, client: object): Promise<HttpResponse> {
    try {
      return await this.#http(request);
    } finally {
      await this.turn(client);
    }
  }
}
