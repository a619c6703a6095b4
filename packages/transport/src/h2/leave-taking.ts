import type { Clock, Timer } from '@engram/core';
import { ErrorCode, goAwayFrame, LARGEST_STREAM_ID, pingFrame } from '@engram/http2';
import { GOAWAY_ACK_MS } from './limits.ts';
import type { Sender } from './sender.ts';
import type { StreamTable } from './stream-table.ts';

/** The data of grpc-go's ping in a drain. Any data that no other ping uses would do. */
const pingData = Buffer.from([1, 6, 1, 8, 0, 3, 3, 9]);

/**
 * Ends a connection without losing a request, in two steps as in grpc-go. A first GOAWAY with the largest stream id
 * tells the client to open no more streams, and a ping shows when the client has read it. A second GOAWAY names the
 * last stream that is served. Then the connection closes as soon as no stream is left.
 */
export class LeaveTaking {
  readonly #clock: Clock;
  readonly #sender: Sender;
  readonly #streams: StreamTable;
  readonly #close: () => void;
  #step: 'none' | 'first' | 'second' = 'none';
  #lastServedId = LARGEST_STREAM_ID;
  #timer: Timer | undefined;

  constructor(clock: Clock, sender: Sender, streams: StreamTable, close: () => void) {
    this.#clock = clock;
    this.#sender = sender;
    this.#streams = streams;
    this.#close = close;
  }

  get begun(): boolean {
    return this.#step !== 'none';
  }

  begin(): void {
    if (this.begun) return;
    this.#step = 'first';
    this.#sender.control(goAwayFrame(LARGEST_STREAM_ID, ErrorCode.NO_ERROR, 'graceful_stop'));
    this.#sender.control(pingFrame(pingData, false));
    this.#timer = this.#clock.after(GOAWAY_ACK_MS, () => this.#second());
  }

  /** Streams above the last stream of the second GOAWAY are refused: the client knows this and retries them elsewhere. */
  refuses(streamId: number): boolean {
    return streamId > this.#lastServedId;
  }

  onPingAck(data: Buffer): void {
    if (this.#step === 'first' && data.equals(pingData)) this.#second();
  }

  streamGone(): void {
    if (this.#step === 'second' && this.#streams.size === 0) this.#close();
  }

  stop(): void {
    this.#timer?.cancel();
  }

  #second(): void {
    this.#timer?.cancel();
    this.#step = 'second';
    this.#lastServedId = this.#streams.lastId;
    this.#sender.control(goAwayFrame(this.#lastServedId, ErrorCode.NO_ERROR, 'graceful_stop'));
    this.streamGone();
  }
}
