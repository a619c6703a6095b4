import { Fifo, type LogPosition } from '@engram/core';

/** One call of `Values.getMany` while its records are read. */
export class RecordRequest {
  readonly positions: readonly LogPosition[];
  readonly signal: AbortSignal;
  readonly #records: Uint8Array[];
  readonly #resolve: (records: readonly Uint8Array[]) => void;
  readonly #reject: (reason: unknown) => void;
  #delivered = 0;
  #ended = false;
  /** The number of positions that have been put into groups. Maintained by RecordRequests. */
  taken = 0;

  constructor(
    positions: readonly LogPosition[],
    signal: AbortSignal,
    resolve: (records: readonly Uint8Array[]) => void,
    reject: (reason: unknown) => void,
  ) {
    this.positions = positions;
    this.signal = signal;
    this.#records = new Array<Uint8Array>(positions.length);
    this.#resolve = resolve;
    this.#reject = reject;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Takes the record of `positions[at]`. Call it once for each position. The last call resolves the request. */
  deliver(at: number, record: Uint8Array): void {
    this.#records[at] = record;
    this.#delivered += 1;
    if (this.#delivered < this.positions.length || this.#ended) return;
    this.#ended = true;
    this.#resolve(this.#records);
  }

  fail(reason: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#reject(reason);
  }
}

/**
 * The calls of `Values.getMany` that wait for their turn, in an engine that reads records in groups. Large calls take
 * turns with each other and with small ones. A call whose signal has aborted is rejected at its next turn.
 */
export class RecordRequests {
  /** The requests with positions left. A request with positions left after its turn goes to the end. */
  readonly #waiting = new Fifo<RecordRequest>();

  get empty(): boolean {
    return this.#waiting.length === 0;
  }

  /** `start` is called once the request is queued. */
  add(positions: readonly LogPosition[], signal: AbortSignal, start: () => void): Promise<readonly Uint8Array[]> {
    if (positions.length === 0) return Promise.resolve([]);
    return new Promise((resolve, reject) => {
      this.#waiting.push(new RecordRequest(positions, signal, resolve, reject));
      start();
    });
  }

  /**
   * Hands out at most `countMax` records, and stops once they reach `bytesMax` bytes. `take` notes the record of
   * `request.positions[at]` and returns its length in bytes. `take` may fail the request.
   */
  takeGroup(countMax: number, bytesMax: number, take: (request: RecordRequest, at: number) => number): void {
    let room = countMax;
    let bytes = 0;
    while (room > 0 && bytes < bytesMax && this.#waiting.length > 0) {
      const request = this.#waiting.shift()!;
      if (request.signal.aborted) request.fail(request.signal.reason);
      if (request.ended) continue;
      const to = Math.min(request.positions.length, request.taken + room);
      room -= to - request.taken;
      for (; request.taken < to && bytes < bytesMax && !request.ended; request.taken += 1) {
        bytes += take(request, request.taken);
      }
      if (request.taken < request.positions.length && !request.ended) this.#waiting.push(request);
    }
  }
}
