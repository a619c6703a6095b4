import { type Message, type StreamCall, type StreamHandler, statusOf } from '@engram/wire';

/**
 * Sends what a source yields, no faster than the client reads: at most `queueBytesMax` and one message wait in the
 * transport. The call ends with the source; when the client is gone, the source's signal aborts.
 */
export class MessagePump implements StreamHandler {
  readonly #call: StreamCall;
  readonly #queueBytesMax: number;
  readonly #gone = new AbortController();
  #roomMade = (): void => {};

  constructor(call: StreamCall, queueBytesMax: number, source: (signal: AbortSignal) => AsyncIterable<Message>) {
    this.#call = call;
    this.#queueBytesMax = queueBytesMax;
    void this.#run(source(this.#gone.signal));
  }

  async #run(messages: AsyncIterable<Message>): Promise<void> {
    try {
      for await (const message of messages) {
        if (this.#gone.signal.aborted) return;
        this.#call.send(message);
        if (this.#call.queuedBytes > this.#queueBytesMax) await this.#room();
      }
      this.#call.end();
    } catch (error) {
      if (!this.#gone.signal.aborted) this.#call.end(statusOf(error));
    }
  }

  /** Until `drained` or `closed`: one of them comes. */
  #room(): Promise<void> {
    return new Promise((resolve) => {
      this.#roomMade = resolve;
    });
  }

  message(): void {}

  halfClosed(): void {}

  drained(): void {
    this.#roomMade();
  }

  closed(): void {
    this.#gone.abort();
    this.#roomMade();
  }
}
