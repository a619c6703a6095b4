import type { KeepaliveOptions } from '../serve-options.ts';

// grpc-go's numbers (internal/transport/http2_server.go).
const strikesMax = 2;
const idlePingMinMs = 2 * 60 * 60_000;

/** Judges the client's pings as grpc-go does: the third ping that comes too early ends the connection. */
export class PingJudge {
  readonly #minTimeMs: number;
  #lastMs = Number.NEGATIVE_INFINITY;
  #strikes = 0;

  constructor({ minTimeMs }: KeepaliveOptions) {
    this.#minTimeMs = minTimeMs;
  }

  /** `sentSinceLast`: HEADERS or DATA went out since the last ping. True when the client must be sent a GOAWAY. */
  onPing(nowMs: number, streams: number, sentSinceLast: boolean): boolean {
    const lastMs = this.#lastMs;
    this.#lastMs = nowMs;
    if (sentSinceLast) {
      this.#strikes = 0;
      return false;
    }
    const minMs = streams === 0 ? idlePingMinMs : this.#minTimeMs;
    if (lastMs + minMs > nowMs) this.#strikes += 1;
    return this.#strikes > strikesMax;
  }
}

export interface KeepaliveStep {
  readonly act: 'none' | 'ping' | 'close';
  /** Delay until the next call of `onTimer`. */
  readonly afterMs: number;
}

/** Decides when the server pings an idle client and when it closes the connection: grpc-go's loop as a state machine. */
export class KeepaliveTimer {
  readonly #intervalMs: number;
  readonly #timeoutMs: number;
  #seenReadMs: number;
  #pinged = false;
  #timeoutLeftMs = 0;

  /** `intervalMs` must not be 0, which means no keepalive. */
  constructor({ intervalMs, timeoutMs }: KeepaliveOptions, nowMs: number) {
    this.#intervalMs = intervalMs;
    this.#timeoutMs = timeoutMs;
    this.#seenReadMs = nowMs;
  }

  /** The first call is due `intervalMs` after the start. */
  onTimer(nowMs: number, lastReadMs: number): KeepaliveStep {
    if (lastReadMs > this.#seenReadMs) {
      this.#pinged = false;
      this.#seenReadMs = lastReadMs;
      return { act: 'none', afterMs: Math.max(0, lastReadMs + this.#intervalMs - nowMs) };
    }
    if (this.#pinged && this.#timeoutLeftMs <= 0) return { act: 'close', afterMs: 0 };
    const act = this.#pinged ? 'none' : 'ping';
    if (!this.#pinged) {
      this.#pinged = true;
      this.#timeoutLeftMs = this.#timeoutMs;
    }
    const afterMs = Math.min(this.#intervalMs, this.#timeoutLeftMs);
    this.#timeoutLeftMs -= afterMs;
    return { act, afterMs };
  }
}
