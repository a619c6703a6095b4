import { GrpcCode } from '@engram/core';
import { type Message, type RpcStatus, type StreamCall, type StreamHandler, statusOf } from '@engram/wire';
import type { ServiceParts } from './service-parts.ts';

const stalled: RpcStatus = {
  code: GrpcCode.UNAVAILABLE,
  message: 'etcdserver: stream closed: the client does not read its responses',
};

/**
 * Sends the messages of a source, no faster than the client reads: at most `streamQueueBytesMax` and one message wait
 * in the transport. The call ends with the source. The source's signal aborts when the client has gone, or reads
 * nothing for `stallMsMax`.
 */
export class MessagePump implements StreamHandler {
  readonly #call: StreamCall;
  readonly #parts: ServiceParts;
  readonly #gone = new AbortController();
  #roomMade = (): void => {};

  constructor(call: StreamCall, parts: ServiceParts, source: (signal: AbortSignal) => AsyncIterable<Message>) {
    this.#call = call;
    this.#parts = parts;
    void this.#run(source(this.#gone.signal));
  }

  async #run(messages: AsyncIterable<Message>): Promise<void> {
    try {
      await this.#room();
      if (this.#gone.signal.aborted) return;
      for await (const message of messages) {
        if (this.#gone.signal.aborted) return;
        this.#call.send(message);
        await this.#room();
        if (this.#gone.signal.aborted) return;
      }
      this.#call.end();
    } catch (error) {
      if (!this.#gone.signal.aborted) this.#call.end(statusOf(error));
    }
  }

  /** Resolves when the call has room, or when its signal has aborted. */
  async #room(): Promise<void> {
    while (!this.#gone.signal.aborted && this.#full()) await this.#drained();
  }

  #full(): boolean {
    return this.#call.queuedBytes > this.#parts.limits.streamQueueBytesMax || this.#call.crowded;
  }

  async #drained(): Promise<void> {
    const timer = this.#parts.options.clock.after(this.#parts.limits.stallMsMax, () => {
      this.#call.end(stalled);
      this.#leave();
    });
    await new Promise<void>((resolve) => {
      this.#roomMade = resolve;
    });
    timer.cancel();
  }

  message(): void {}

  halfClosed(): void {}

  drained(): void {
    this.#roomMade();
  }

  closed(): void {
    this.#leave();
  }

  #leave(): void {
    this.#gone.abort();
    this.#roomMade();
  }
}
