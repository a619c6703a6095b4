/**
 * Frames that ask for work but carry none (PING, SETTINGS, RST_STREAM, empty DATA, PRIORITY, ...) are normal in small
 * numbers and an attack in large ones. Each costs a token. Tokens are refilled over time and with each frame that the
 * server sends, because honest clients respond to those: with WINDOW_UPDATEs, with pings that measure the path, with
 * cancels.
 */
export class AbuseBudget {
  #tokens = capacity;
  #refilledMs: number;

  constructor(nowMs: number) {
    this.#refilledMs = nowMs;
  }

  /** To be called when the server sent a frame that the client may react to. */
  earn(): void {
    if (this.#tokens < capacity) this.#tokens += earnedTokens;
  }

  /** False when the client has spent more than its tokens. */
  spend(tokens: number, nowMs: number): boolean {
    this.#tokens -= tokens;
    if (this.#tokens >= 0) return true;
    const refill = (nowMs - this.#refilledMs) * tokensPerMs;
    this.#refilledMs = nowMs;
    this.#tokens = Math.min(capacity, this.#tokens + refill);
    return this.#tokens >= 0;
  }
}

/** A burst of this many costs the server some milliseconds. nghttp2 allows 1000 resets, Go 10000 control frames. */
const capacity = 10_000;
const tokensPerMs = 1;
/** Some clients send two WINDOW_UPDATEs, a PING and a reset of an ended stream for a single answer. */
const earnedTokens = 8;
