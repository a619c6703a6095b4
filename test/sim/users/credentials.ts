import type { Prng } from '@engram/sim';

/** How a client says who it is. */
export interface Credential {
  readonly name: string;
  readonly kind: 'nobody' | 'bad' | 'simple' | 'jwt' | 'certificate';
  /** Empty: nobody. */
  readonly user: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly commonName: string | undefined;
  /** Of a token: every node that has the log before this position has been told of it. */
  readonly from: number;
  /** When the client asked for it. */
  readonly sinceMs: number;
  /** Of a JWT: the auth revision that it says. */
  readonly revision: number;
}

const without = { metadata: {}, commonName: undefined, from: 1, sinceMs: 0, revision: 0 };

export const nobody: Credential = { ...without, name: 'nobody', kind: 'nobody', user: '' };

const bad: Credential = {
  ...without,
  name: 'a bad token',
  kind: 'bad',
  user: '',
  metadata: { token: 'abcdefghijklmnop.1' },
};

export const certificateOf = (user: string): Credential => ({
  ...without,
  name: `${user} by certificate`,
  kind: 'certificate',
  user,
  commonName: user,
});

/** The users that clients of a run make. */
export const ROOT = 'root';
export const USERS = ['u0', 'u1', 'u2'] as const;
export const ROLES = ['r0', 'r1', 'r2'] as const;

/** So many of the newest tokens are used. */
const TOKENS_MAX = 12;

/** The tokens that clients of a run have got. */
export class Credentials {
  readonly #tokens: Credential[] = [];

  add(token: Credential): void {
    this.#tokens.push(token);
    if (this.#tokens.length > TOKENS_MAX) this.#tokens.shift();
  }

  /** Of any client. */
  pick(random: Prng): Credential {
    const kind = random.below(20);
    if (kind === 0) return nobody;
    if (kind === 1) return bad;
    if (kind < 5 || this.#tokens.length === 0) return certificateOf(random.chance(0.3) ? ROOT : random.pick(USERS));
    return random.pick(this.#tokens);
  }

  /** Of a client that changes users and roles: mostly root. */
  pickManager(random: Prng): Credential {
    if (random.chance(0.15)) return this.pick(random);
    const tokens = this.#tokens.filter(({ user }) => user === ROOT);
    return tokens.length === 0 || random.chance(0.4) ? certificateOf(ROOT) : random.pick(tokens);
  }
}
