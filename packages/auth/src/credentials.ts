import { type AuthInfo, nobody } from './auth-info.ts';
import type { AuthState } from './auth-state.ts';
import type { JwtTokens } from './jwt-tokens.ts';
import type { SimpleTokens } from './simple-tokens.ts';

/** What came with a call. */
export interface Credentials {
  /** As `presentedToken` gives it. Undefined if the call has no token. An empty one is a token, and a wrong one. */
  readonly token?: string | undefined;
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

/** The token of a call, of the first values of its metadata `token` and `authorization`: the latter counts if there is no `token`. */
export function presentedToken(token: string | undefined, authorization?: string): string | undefined {
  const presented = token ?? authorization;
  return presented?.startsWith(BEARER) === true ? presented.slice(BEARER.length) : presented;
}

/**
 * Who makes a call (etcd: AuthInfoFromCtx). Undefined if its token does not count: the call is refused as
 * InvalidAuthToken. While authentication is off, tokens are not looked at. A JWT that was not verified yet does not count:
 * `JwtTokens.infoOf` verifies it.
 */
export function identify(state: AuthState, credentials: Credentials, provider: TokenProvider): AuthInfo | undefined {
  const { token, commonName } = credentials;
  if (token === undefined || !state.enabled) {
    return commonName === undefined ? nobody : { user: commonName, authRevision: state.revision };
  }
  if (provider === undefined) return undefined;
  if (provider.kind === 'jwt') return provider.tokens.known(token);
  // A simple token says nothing itself: its user has the roles that count now.
  const user = provider.tokens.userOf(token);
  return user === undefined ? undefined : { user, authRevision: state.revision };
}
