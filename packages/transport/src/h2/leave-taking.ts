import type { Clock, Timer } from '@engram/core';
import { ErrorCode, goAwayFrame, LARGEST_STREAM_ID, pingFrame } from '@engram/wire';
import { GOAWAY_ACK_MS } from './limits.ts';
import type { Sender } from './sender.ts';
import type { StreamTable } from './stream-table.ts';

/** grpc-go's ping of a drain; any data that no other ping has would do. */
const pingData = Buffer.from([1, 6, 1, 8, 0, 3, 3, 9]);

/**
 * Ends a connection without losing a request, in two steps as grpc-go does: a first GOAWAY that names no stream tells
 * the client to open no more, and a ping shows when it has read that; a second one names the last stream that we
 * serve. Then the connection closes as soon as no stream is left.
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

  /** Streams above the last one of the second GOAWAY are not served: the client knows and takes them elsewhere. */
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
