import type { Int64 } from '@engram/core';
import type { SimClock } from '@engram/sim';
import { etcdserverpb, type Init, type mvccpb } from '@engram/wire';
import type { FakeCall } from './fake-call.ts';

/** The client's end of a watch stream. */
export class WatchClient {
  readonly call: FakeCall;
  readonly #clock: SimClock;
  #taken = 0;

  constructor(call: FakeCall, clock: SimClock) {
    this.call = call;
    this.#clock = clock;
  }

  send(request: Init<etcdserverpb.WatchRequest>): void {
    this.call.request(etcdserverpb.encodeWatchRequest(request));
  }

  /** Requests a watcher and takes the answer. */
  create(request: Init<etcdserverpb.WatchCreateRequest>): etcdserverpb.WatchResponse {
    this.send({ createRequest: request });
    return this.next();
  }

  cancel(watchId: Int64): void {
    this.send({ cancelRequest: { watchId } });
  }

  requestProgress(): void {
    this.send({ progressRequest: {} });
  }

  /** The next response, which must already be there. */
  next(): etcdserverpb.WatchResponse {
    const bytes = this.call.sent[this.#taken];
    if (bytes === undefined) throw new Error('no further response');
    this.#taken += 1;
    return etcdserverpb.decodeWatchResponse(bytes);
  }

  /** All responses that were not taken, after all pending work is done. */
  async rest(): Promise<etcdserverpb.WatchResponse[]> {
    await this.#clock.settle();
    const rest: etcdserverpb.WatchResponse[] = [];
    while (this.#taken < this.call.sent.length) rest.push(this.next());
    return rest;
  }

  async events(): Promise<mvccpb.Event[]> {
    return (await this.rest()).flatMap((response) => response.events);
  }
}
