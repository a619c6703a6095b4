import type { Clock } from '@engram/core';

/** Below this recent average of requests for each message, waiting for further requests gathers none. */
const COMPANY_MIN = 1.25;
const WEIGHT = 1 / 8;

/**
 * Decides when the first request of an idle stream is sent. If requests usually come together, the stream waits a turn of the
 * event loop and sends them in one message. Without that 16 callers took a fifth more CPU. If requests come alone, waiting has
 * no use: a request written before the turn is over leaves at the end of the socket's callback, and a timestamp comes a tenth
 * sooner.
 */
export class Gathering {
  #company = 1;

  plan(clock: Clock, send: () => void): void {
    if (this.#company < COMPANY_MIN) clock.endOfTurn(send);
    else clock.soon(send);
  }

  /** `count`: requests in the message that has left. */
  sent(count: number): void {
    this.#company += (count - this.#company) * WEIGHT;
  }
}
