/**
 * Frames that ask for work but bring none (PING, SETTINGS, RST_STREAM, empty DATA, PRIORITY, ...) are normal in small
 * numbers and an attack in large ones. Each costs a token. Tokens come back with time, and with the frames that we
 * send, because honest clients answer those: with WINDOW_UPDATEs, with pings that measure the path, with cancels.
 */
export class AbuseBudget {
  #tokens = capacity;
  #refilledMs: number;

  constructor(nowMs: number) {
    this.#refilledMs = nowMs;
  }

  /** We sent a frame that the client may react to. */
  earn(): void {
    if (this.#tokens < capacity) this.#tokens += earnedTokens;
  }

  /** False when the client has overdrawn. */
  spend(tokens: number, nowMs: number): boolean {
    this.#tokens -= tokens;
    if (this.#tokens >= 0) return true;
    const refill = (nowMs - this.#refilledMs) * tokensPerMs;
    this.#refilledMs = nowMs;
    this.#tokens = Math.min(capacity, this.#tokens + refill);
    return this.#tokens >= 0;
  }
}

/** A burst of this many costs us some milliseconds of work. nghttp2 allows 1000 resets, Go 10000 control frames. */
const capacity = 10_000;
const tokensPerMs = 1;
/** Some clients open two windows, ping, and reset a stream that has ended, all for one answer. */
const earnedTokens = 8;
