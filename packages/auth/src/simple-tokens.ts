import { createHash } from 'node:crypto';
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

/** `index` is a position of the log behind the record of the token: see `simpleTokenIndex`. */
export const simpleToken = (prefix: string, index: number): string => `${prefix}.${index}`;

/**
 * The position of a simple token: a member that has not applied the log up to it may not know the token yet. Undefined if
 * it is no simple token.
 */
export function simpleTokenIndex(token: string): number | undefined {
  const parts = token.split('.');
  if (parts.length !== 2 || !/^\d+$/.test(parts[1]!)) return undefined;
  const index = Number(parts[1]);
  return Number.isSafeInteger(index) ? index : undefined;
}

/**
 * What the log has of a token: who reads the log, or a copy of it, cannot use the token. SHA-256 of the part before the dot,
 * which is the secret. Whatever a client sends has one.
 */
export function tokenDigest(token: string): Uint8Array {
  const dot = token.indexOf('.');
  return createHash('sha256')
    .update(dot < 0 ? token : token.slice(0, dot), 'utf8')
    .digest();
}

interface Holder {
  readonly user: string;
  endsMs: number;
  /** A client has used it: then it needs no digest at its next use. */
  token: string | undefined;
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
  /** By the digest of the token. */
  readonly #holders = new Map<string, Holder>();
  /** The names in `#holders` of tokens that were used. */
  readonly #used = new Map<string, string>();
  /** The last of `#holders`, if a client has used it last. */
  #newest: Holder | undefined;

  constructor({ clock, ttlMs = SIMPLE_TOKEN_TTL_MS, tokensMax = TOKENS_MAX }: SimpleTokensOptions) {
    this.#clock = clock;
    this.#ttlMs = ttlMs;
    this.#tokensMax = tokensMax;
  }

  /** Tokens that have not ended, or whose end nothing has looked at. */
  get size(): number {
    return this.#holders.size;
  }

  /** False if the token of this digest is known already: it stays that of its user. */
  assign(digest: Uint8Array, user: string): boolean {
    const nowMs = this.#clock.nowMs();
    this.#dropEnded(nowMs);
    const name = nameOf(digest);
    if (this.#holders.has(name)) return false;
    this.#newest = undefined;
    this.#holders.set(name, { user, endsMs: nowMs + this.#ttlMs, token: undefined });
    for (const [oldest, holder] of this.#holders) {
      if (this.#holders.size <= this.#tokensMax) break;
      this.#drop(oldest, holder);
    }
    return true;
  }

  /** Whose token it is; undefined if it is unknown or has ended. Counts as a use. */
  userOf(token: string): string | undefined {
    const nowMs = this.#clock.nowMs();
    // Most calls are of the client that made the last one. Its token is the last to end.
    const newest = this.#newest;
    if (newest?.token === token && newest.endsMs >= nowMs) {
      newest.endsMs = nowMs + this.#ttlMs;
      return newest.user;
    }
    this.#dropEnded(nowMs);
    const name = this.#used.get(token) ?? nameOf(tokenDigest(token));
    const holder = this.#holders.get(name);
    if (holder === undefined) return undefined;
    if (holder.token === undefined) {
      holder.token = token;
      this.#used.set(token, name);
    }
    holder.endsMs = nowMs + this.#ttlMs;
    this.#holders.delete(name);
    this.#holders.set(name, holder);
    this.#newest = holder;
    return holder.user;
  }

  /** After the user was deleted or has another password. */
  endUser(user: string): void {
    for (const [name, holder] of this.#holders) if (holder.user === user) this.#drop(name, holder);
  }

  /** After authentication was disabled. */
  endAll(): void {
    this.#holders.clear();
    this.#used.clear();
    this.#newest = undefined;
  }

  #dropEnded(nowMs: number): void {
    for (const [name, holder] of this.#holders) {
      if (holder.endsMs >= nowMs) return;
      this.#drop(name, holder);
    }
  }

  #drop(name: string, holder: Holder): void {
    const { token } = holder;
    if (holder === this.#newest) this.#newest = undefined;
    this.#holders.delete(name);
    if (token !== undefined) this.#used.delete(token);
  }
}

const nameOf = (digest: Uint8Array): string => Buffer.from(digest).toString('latin1');
