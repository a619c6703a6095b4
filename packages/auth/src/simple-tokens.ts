import type { Clock, Random } from '@engram/core';

const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';
const PREFIX_LETTERS = 16;
/** Draws from here on would favour the first letters. */
const DRAWS_END = 2 ** 32 - (2 ** 32 % LETTERS.length);

/** etcd's: server/auth/simple_token.go and `--auth-token-ttl`. */
export const SIMPLE_TOKEN_TTL_MS = 300_000;
const TOKENS_MAX = 100_000;

/** The first part of a simple token: 16 letters, each as likely as the others. `random` must be one that nobody can predict. */
export function simpleTokenPrefix(random: Random): string {
  let prefix = '';
  while (prefix.length < PREFIX_LETTERS) {
    const draw = random.uint32();
    if (draw < DRAWS_END) prefix += LETTERS[draw % LETTERS.length]!;
  }
  return prefix;
}

/** `index` is the position at which the log knows the token, so that no two tokens are the same. */
export const simpleToken = (prefix: string, index: number): string => `${prefix}.${index}`;

/**
 * The position of a simple token: a member that has not applied the log so far does not know the token yet. Undefined if
 * it is no simple token.
 */
export function simpleTokenIndex(token: string): number | undefined {
  const parts = token.split('.');
  if (parts.length !== 2 || !/^\d+$/.test(parts[1]!)) return undefined;
  const index = Number(parts[1]);
  return Number.isSafeInteger(index) ? index : undefined;
}

interface Holder {
  readonly user: string;
  endsMs: number;
}

export interface SimpleTokensOptions {
  readonly clock: Pick<Clock, 'nowMs'>;
  /** How long a token lives after its last use. */
  readonly ttlMs?: number;
  /** The most tokens. Above it the one that was not used for the longest time ends. */
  readonly tokensMax?: number;
}

/**
 * The simple tokens that one node knows, and whose they are. In memory only: after a restart clients log in again. Each
 * use gives a token its whole time again, so the tokens are in the order of their last use, which is that of their
 * ends: what has ended is found at the front, at every call, and there is no timer.
 */
export class SimpleTokens {
  readonly #clock: Pick<Clock, 'nowMs'>;
  readonly #ttlMs: number;
  readonly #tokensMax: number;
  readonly #holders = new Map<string, Holder>();

  constructor({ clock, ttlMs = SIMPLE_TOKEN_TTL_MS, tokensMax = TOKENS_MAX }: SimpleTokensOptions) {
    this.#clock = clock;
    this.#ttlMs = ttlMs;
    this.#tokensMax = tokensMax;
  }

  /** Tokens that have not ended, or whose end nothing has looked at. */
  get size(): number {
    return this.#holders.size;
  }

  /** False if the token is known already: it stays that of its user. */
  assign(token: string, user: string): boolean {
    const nowMs = this.#clock.nowMs();
    this.#dropEnded(nowMs);
    if (this.#holders.has(token)) return false;
    this.#holders.set(token, { user, endsMs: nowMs + this.#ttlMs });
    for (const oldest of this.#holders.keys()) {
      if (this.#holders.size <= this.#tokensMax) break;
      this.#holders.delete(oldest);
    }
    return true;
  }

  /** Whose token it is; undefined if it is unknown or has ended. Counts as a use. */
  userOf(token: string): string | undefined {
    const nowMs = this.#clock.nowMs();
    this.#dropEnded(nowMs);
    const holder = this.#holders.get(token);
    if (holder === undefined) return undefined;
    holder.endsMs = nowMs + this.#ttlMs;
    this.#holders.delete(token);
    this.#holders.set(token, holder);
    return holder.user;
  }

  /** After the user was deleted or has another password. */
  endUser(user: string): void {
    for (const [token, holder] of this.#holders) if (holder.user === user) this.#holders.delete(token);
  }

  /** After authentication was disabled. */
  endAll(): void {
    this.#holders.clear();
  }

  #dropEnded(nowMs: number): void {
    for (const [token, { endsMs }] of this.#holders) {
      if (endsMs >= nowMs) return;
      this.#holders.delete(token);
    }
  }
}
