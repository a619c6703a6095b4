import type { Clock, Span, Timer } from '@engram/core';
import type { Loop, Task } from '@engram/loop';
import {
  type CallContext,
  type CallHead,
  type CallHooks,
  type CallUser,
  type RpcStatus,
  CANCELLED,
  DEADLINE_EXCEEDED,
  STOPPED,
  SUCCEEDED,
} from '@engram/wire';
import type { GatewayRequest } from './gateway-request.ts';
import { metadataOf } from './metadata.ts';
import type { Route } from './routes.ts';

/** The longest timer, 24 days. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** What the calls of a gateway share. */
export interface CallParts {
  readonly loop: Loop;
  readonly clock: Clock;
  /** Of the method. */
  readonly hooks: CallHooks | undefined;
  /** 0: no deadline. */
  readonly timeoutMs: number;
  /** The calls whose handlers wait for other clients. */
  readonly waiting: WaitingCalls;
}

/** Calls that would go on for as long as other clients want it, so that a gateway which stops must end them. */
export class WaitingCalls {
  readonly #calls = new Set<GatewayCall>();
  #stopped = false;

  add(call: GatewayCall): void {
    if (this.#stopped) call.cutOff(STOPPED);
    else this.#calls.add(call);
  }

  delete(call: GatewayCall): void {
    this.#calls.delete(call);
  }

  /** Ends them, and those that come. */
  stop(): void {
    this.#stopped = true;
    for (const call of [...this.#calls]) call.cutOff(STOPPED);
  }
}

/**
 * One call, from its request to the end of its answer. It has no certificate's name: whoever has verified the certificate did so for
 * HTTP, and etcd does not take it for the caller either.
 */
export class GatewayCall implements CallContext {
  readonly head: CallHead = { admitted: undefined };
  readonly commonName = undefined;
  span: Span | undefined = undefined;
  user: CallUser | undefined = undefined;
  readonly route: Route;
  protected readonly request: GatewayRequest;
  protected readonly parts: CallParts;
  readonly #abort = new AbortController();
  readonly #startMs: number;
  readonly #gone = (): void => this.closed();
  #timer: Timer | undefined;
  #cut: RpcStatus | undefined;
  #handled = false;
  #ended = false;
  #heldBytes = 0;
  #onEnd: (() => void)[] = [];

  constructor(route: Route, request: GatewayRequest, parts: CallParts) {
    this.route = route;
    this.request = request;
    this.parts = parts;
    this.#startMs = parts.clock.nowMs();
  }

  /** To be called first, and once. */
  start(): void {
    const { hooks, clock, timeoutMs } = this.parts;
    const { signal } = this.request;
    hooks?.begin?.(this);
    if (timeoutMs > 0) this.#timer = clock.after(Math.min(timeoutMs, TIMER_MS_MAX), () => this.expire());
    if (signal.aborted) this.closed();
    else signal.addEventListener('abort', this.#gone, { once: true });
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get peer(): string {
    return this.request.peer;
  }

  get client(): object {
    return this.request.client;
  }

  get method(): string {
    return this.route.method;
  }

  /** In whose part of the loop's time the call's JSON is read and made. */
  get task(): Task {
    return { work: 'client', caller: this.request.client, stage: 'json', method: this.route.method };
  }

  /** Its outcome, if it was ended while its handler was at work: by its deadline, or by a server that stops. */
  get cut(): RpcStatus | undefined {
    return this.#cut;
  }

  get ended(): boolean {
    return this.#ended;
  }

  metadata(name: string): string | undefined {
    return metadataOf(this.request, name);
  }

  reserveAnswer(bytes: number): boolean {
    if (this.#ended) return false;
    this.holdAnswer(bytes);
    if (this.request.answerBytes.mayGrow) return true;
    this.request.answerBytes.refused();
    this.holdAnswer(-bytes);
    return false;
  }

  holdAnswer(bytes: number): void {
    this.hold(this.#heldBytes + bytes);
  }

  waits(waiting: boolean): void {
    if (waiting && !this.#ended) this.parts.waiting.add(this);
    else this.parts.waiting.delete(this);
  }

  /** The call holds this much of its answer. */
  hold(bytes: number): void {
    if (this.#ended) return;
    this.#heldBytes = bytes;
    this.request.answerBytes.hold(bytes);
  }

  received(bytes: number): void {
    this.parts.hooks?.received?.(this, bytes);
  }

  sent(bytes: number): void {
    if (!this.#handled) this.parts.hooks?.sent?.(this, bytes);
  }

  /** The handler has given its outcome. The answer may still have to be sent. */
  handled(status: RpcStatus): void {
    if (this.#handled) return;
    this.#handled = true;
    this.parts.hooks?.end?.(this, status, this.parts.clock.nowMs() - this.#startMs);
  }

  /** `release` gives back what the call holds when it ends, for whatever reason. */
  onEnd(release: () => void): void {
    if (this.#ended) release();
    else this.#onEnd.push(release);
  }

  /** Nothing more is sent. */
  end(status?: RpcStatus): void {
    this.handled(status ?? SUCCEEDED);
    this.release();
  }

  protected release(): void {
    if (this.#ended) return;
    this.hold(0);
    this.#ended = true;
    this.waits(false);
    this.#timer?.cancel();
    this.request.signal.removeEventListener('abort', this.#gone);
    for (const release of this.#onEnd) release();
    this.#onEnd = [];
  }

  protected expire(): void {
    this.cutOff(DEADLINE_EXCEEDED);
  }

  /** Ends the call while its handler is at work: the handler's signal aborts. */
  cutOff(status: RpcStatus): void {
    this.#cut = status;
    this.handled(status);
    this.#abort.abort(new DOMException(status.message, 'AbortError'));
  }

  /** The client is gone. */
  protected closed(): void {
    this.handled(CANCELLED);
    this.#abort.abort(this.request.signal.reason);
    this.release();
  }
}
