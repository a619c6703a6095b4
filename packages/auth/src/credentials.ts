import { type AuthInfo, nobody } from './auth-info.ts';
import type { AuthState } from './auth-state.ts';
import type { JwtTokens } from './jwt-tokens.ts';
import type { SimpleTokens } from './simple-tokens.ts';

/** What came with a call. */
export interface Credentials {
  /** The first value of the metadata `token`. */
  readonly token?: string | undefined;
  /** The first value of the metadata `authorization`, which counts if there is no `token`. */
  readonly authorization?: string | undefined;
  /**
   * The common name of the client's verified certificate, if `--client-cert-auth` is on. Undefined for a call of the gateway:
   * its certificate is the server's own, not the client's.
   */
  readonly commonName?: string | undefined;
}

/** What tells whose a token is. `undefined` is etcd's empty `--auth-token`: no token counts. */
export type TokenProvider =
  | { readonly kind: 'simple'; readonly tokens: SimpleTokens }
  | { readonly kind: 'jwt'; readonly tokens: JwtTokens }
  | undefined;

const BEARER = 'Bearer ';

/** Undefined if the call has no token. An empty one is a token, and a wrong one. */
export function presentedToken({ token, authorization }: Credentials): string | undefined {
  const presented = token ?? authorization;
  return presented?.startsWith(BEARER) === true ? presented.slice(BEARER.length) : presented;
}

/**
 * Who makes a call (etcd: AuthInfoFromCtx). Undefined if its token does not count: the call is refused as
 * InvalidAuthToken. While authentication is off, tokens are not looked at. A JWT that was not verified yet does not count:
 * `JwtTokens.infoOf` verifies it.
 */
export function identify(state: AuthState, credentials: Credentials, provider: TokenProvider): AuthInfo | undefined {
  const token = state.enabled ? presentedToken(credentials) : undefined;
  if (token === undefined) {
    const { commonName } = credentials;
    return commonName === undefined ? nobody : { user: commonName, authRevision: state.revision };
  }
  if (provider === undefined) return undefined;
  if (provider.kind === 'jwt') return provider.tokens.known(token);
  // A simple token says nothing itself: its user has the roles that count now.
  const user = provider.tokens.userOf(token);
  return user === undefined ? undefined : { user, authRevision: state.revision };
}
