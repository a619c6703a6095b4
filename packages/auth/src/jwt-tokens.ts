import type { Clock, ErrorCode } from '@engram/core';
import type { AuthInfo } from './auth-info.ts';

/** etcd's: server/auth/options.go. */
export const JWT_TTL_MS = 300_000;
const VERIFIED_MAX = 10_000;

/** The claims of a token that etcd issues. */
export interface JwtClaims {
  readonly username: string;
  /** The auth revision at which the user logged in. */
  readonly revision: number;
  /** Seconds since 1970. */
  readonly exp: number;
}

/**
 * Port to a library that knows JSON web tokens, with its method and keys. It looks at neither the time nor the names in
 * the claims.
 */
export interface JwtKeys {
  /**
   * The claims of a token that is well formed, of the configured method and no other, and whose signature is right.
   * Undefined for every other text: never rejects for what a client sent.
   */
  verify(token: string): Promise<unknown>;
  /** Undefined if there is only a key to verify with. */
  readonly sign: ((claims: JwtClaims) => Promise<string>) | undefined;
}

export interface JwtTokensOptions {
  readonly keys: JwtKeys;
  /** Tokens are made by others too and say a date, so this is the time of the wall. */
  readonly clock: Pick<Clock, 'wallMs'>;
  readonly ttlMs?: number;
  /** The most tokens that are remembered as verified. */
  readonly verifiedMax?: number;
}

/** What a verified token says. */
interface Verified {
  readonly info: AuthInfo;
  readonly fromMs: number;
  /** The first time at which it counts no more. */
  readonly endMs: number;
}

/**
 * Tokens that say who they are for, signed. A signature is verified once: a token that was right is remembered, the one
 * of the oldest use is forgotten first. What is not right is not remembered, so clients cannot push others out.
 */
export class JwtTokens {
  readonly #keys: JwtKeys;
  readonly #clock: Pick<Clock, 'wallMs'>;
  readonly #ttlMs: number;
  readonly #verifiedMax: number;
  /** In the order of their last use. */
  readonly #verified = new Map<string, Verified>();
  /** The last of them, if it is there. */
  #newest: string | undefined;
  /** Calls of one connection are made in their order, also where they wait for the same token. */
  readonly #verifying = new Map<string, Promise<void>>();

  constructor({ keys, clock, ttlMs = JWT_TTL_MS, verifiedMax = VERIFIED_MAX }: JwtTokensOptions) {
    this.#keys = keys;
    this.#clock = clock;
    this.#ttlMs = ttlMs;
    this.#verifiedMax = verifiedMax;
  }

  /** Tokens that are remembered. */
  get size(): number {
    return this.#verified.size;
  }

  /** The code VerifyOnlyKey if there is no key to sign with. */
  async sign(user: string, revision: number): Promise<{ readonly token: string } | { readonly code: ErrorCode }> {
    const { sign } = this.#keys;
    if (sign === undefined) return { code: 'VerifyOnlyKey' };
    const exp = Math.floor((this.#clock.wallMs() + this.#ttlMs) / 1000);
    return { token: await sign({ username: user, revision, exp }) };
  }

  /**
   * Verifies a token at its first use. Resolves when `known` says whose it is, or that it does not count. Undefined: it does so already.
   * Rejects if the keys cannot verify it.
   */
  verifying(token: string): Promise<void> | undefined {
    if (this.#verified.has(token)) return undefined;
    const verifying = this.#verifying.get(token) ?? this.#verify(token);
    this.#verifying.set(token, verifying);
    return verifying;
  }

  /** Whose token it is. Undefined if it was not verified, was not right, has ended, or counts from later on. */
  known(token: string): AuthInfo | undefined {
    const verified = this.#verified.get(token);
    if (verified === undefined) return undefined;
    if (!this.#counts(verified)) {
      // One that nobody uses again is forgotten in its turn.
      this.#verified.delete(token);
      return undefined;
    }
    // Most calls are of the client that made the last one.
    if (token !== this.#newest) {
      this.#verified.delete(token);
      this.#remember(token, verified);
    }
    return verified.info;
  }

  async #verify(token: string): Promise<void> {
    try {
      const verified = readClaims(await this.#keys.verify(token));
      if (verified !== undefined && this.#counts(verified)) this.#remember(token, verified);
    } finally {
      this.#verifying.delete(token);
    }
  }

  #counts({ fromMs, endMs }: Verified): boolean {
    const nowMs = this.#clock.wallMs();
    return nowMs < endMs && nowMs >= fromMs;
  }

  #remember(token: string, verified: Verified): void {
    this.#newest = token;
    this.#verified.set(token, verified);
    for (const oldest of this.#verified.keys()) {
      if (this.#verified.size <= this.#verifiedMax) break;
      this.#verified.delete(oldest);
    }
  }
}

/** As golang-jwt v5 and etcd read them (server/auth/jwt.go). Undefined if a claim is missing or of another kind. */
function readClaims(claims: unknown): Verified | undefined {
  if (typeof claims !== 'object' || claims === null) return undefined;
  const { username, revision, exp, nbf } = claims as Readonly<Record<string, unknown>>;
  if (typeof username !== 'string' || typeof revision !== 'number') return undefined;
  const authRevision = Math.trunc(revision);
  if (!Number.isSafeInteger(authRevision) || authRevision < 0) return undefined;
  const endMs = dateMs(exp, Number.POSITIVE_INFINITY);
  const fromMs = dateMs(nbf, Number.NEGATIVE_INFINITY);
  if (endMs === undefined || fromMs === undefined) return undefined;
  return { info: { user: username, authRevision }, fromMs, endMs };
}

/** A date in seconds, whole ones. `absent` if there is none, or 0, which means the same; undefined if it is no number. */
function dateMs(claim: unknown, absent: number): number | undefined {
  if (claim === undefined || claim === 0) return absent;
  return typeof claim === 'number' && Number.isFinite(claim) ? Math.trunc(claim) * 1000 : undefined;
}
