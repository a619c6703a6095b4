import {
  type AuthInfo,
  type AuthState,
  type Credentials,
  type EndedTokens,
  identify,
  type JwtKeys,
  JwtTokens,
  nobody,
  type PasswordHasher,
  presentedToken,
  simpleTokenIndex,
  SimpleTokens,
  type TokenProvider,
} from '@engram/auth';
import { type AuthView, nodeItself, type Store } from '@engram/backend';
import { type Clock, EngramError, type Random, unreachable } from '@engram/core';
import type { CallContext, CallUser } from '@engram/wire';

/** How users log in. */
export interface AuthSettings {
  readonly hasher: PasswordHasher;
  /** For tokens: one that nobody can predict. */
  readonly random: Random;
  readonly tokens: TokenSettings;
  /** A client's verified certificate says who it is (etcd: --client-cert-auth). */
  readonly clientCertAuth: boolean;
}

/** etcd: --auth-token. `none`: no token counts. */
export type TokenSettings =
  | { readonly kind: 'simple'; readonly ttlMs?: number }
  | { readonly kind: 'jwt'; readonly keys: JwtKeys; readonly ttlMs?: number }
  | { readonly kind: 'none' };

/** Who the clients are. Without settings nobody logs in. */
export class Authenticator {
  readonly view: AuthView;
  readonly settings: AuthSettings | undefined;
  readonly provider: TokenProvider;
  readonly #store: Store;
  /** The credentials of the last call that was admitted, with the state in which it was: until the callback of the event loop ends. */
  #last: HeadCredentials | undefined;
  #lastIn: AuthState | undefined;

  constructor(store: Store, clock: Clock, settings: AuthSettings | undefined) {
    this.view = store.auth;
    this.settings = settings;
    this.#store = store;
    this.provider = providerOf(settings?.tokens ?? { kind: 'none' }, clock);
    if (this.provider?.kind !== 'simple') return;
    const { tokens } = this.provider;
    this.view.listen({
      loggedIn: (digest, user) => void tokens.assign(digest, user),
      changed: (ended) => endTokens(tokens, ended),
    });
  }

  /** Whether users count. While they do not, nothing else here needs to be asked. */
  get enabled(): boolean {
    return this.view.enabled;
  }

  /**
   * Resolves when it is known whether the call's token counts. Undefined: it is known already. Never rejects. Waits for a signature
   * to be verified, and for a log-in at another member to arrive here.
   */
  ready(call: CallContext): Promise<unknown> | undefined {
    const { token } = this.#credentialsOf(call);
    if (token === undefined || this.provider === undefined) return undefined;
    if (this.provider.kind === 'jwt') return verifying(this.provider.tokens, token);
    if (this.provider.tokens.userOf(token) !== undefined) return undefined;
    const index = simpleTokenIndex(token);
    if (index === undefined || index <= this.#store.status().logPosition) return undefined;
    // The log-in was answered before this call was made. Without a leader the token stays unknown.
    try {
      return this.#store.readIndex(nodeItself)?.catch(() => undefined);
    } catch {
      return undefined;
    }
  }

  /** As `ready`, but waits for no other member: a token that must come from one does not count yet. */
  verified(call: CallContext): Promise<unknown> | undefined {
    if (this.provider?.kind !== 'jwt') return undefined;
    const { token } = this.#credentialsOf(call);
    return token === undefined ? undefined : verifying(this.provider.tokens, token);
  }

  /** Who makes the call, as of now. Undefined if its token does not count. */
  identify(call: CallContext): AuthInfo | undefined {
    return identify(this.view.state, this.#credentialsOf(call), this.provider);
  }

  /** Notes in the call who makes it. Throws InvalidAuthToken. */
  admit(call: CallContext): AuthInfo {
    const info = this.admitKnown(call);
    if (info === undefined) throw new EngramError('InvalidAuthToken');
    return info;
  }

  /** As `admit`. Undefined if the call's token does not count, or not yet: what `ready` says. */
  admitKnown(call: CallContext): AuthInfo | undefined {
    const credentials = this.#credentialsOf(call);
    const { state } = this.view;
    // Calls that come together are mostly of one client: that its token counts is not looked up again for each.
    if (credentials !== this.#last || state !== this.#lastIn) {
      const info = identify(state, credentials, this.provider);
      if (info === undefined) return undefined;
      credentials.identified(info);
      if (this.#last === undefined) queueMicrotask(this.#forgetLast);
      this.#last = credentials;
      this.#lastIn = state;
    }
    call.user = credentials.user;
    return credentials.info;
  }

  readonly #forgetLast = (): void => {
    this.#last = undefined;
    this.#lastIn = undefined;
  };

  #credentialsOf(call: CallContext): HeadCredentials {
    const { head } = call;
    if (head.credentials instanceof HeadCredentials) return head.credentials;
    const { clientCertAuth = false } = this.settings ?? {};
    // A call through the gateway shows the certificate of the gateway.
    const certified = clientCertAuth && call.metadata('grpcgateway-accept') === undefined;
    const credentials = new HeadCredentials(
      presentedToken(call.metadata('token'), call.metadata('authorization')),
      certified ? call.commonName : undefined,
    );
    head.credentials = credentials;
    return credentials;
  }
}

/** What the headers of a call and its connection say of its client. */
class HeadCredentials implements Credentials {
  readonly token: string | undefined;
  readonly commonName: string | undefined;
  /** Who made the last call that was admitted, and the same as calls note it: calls of one client share it. */
  info: AuthInfo | undefined;
  user: CallUser | undefined;

  constructor(token: string | undefined, commonName: string | undefined) {
    this.token = token;
    this.commonName = commonName;
  }

  identified(info: AuthInfo): void {
    if (this.info === info) return;
    this.info = info;
    this.user = info === nobody ? undefined : { name: info.user, authRevision: info.authRevision };
  }
}

/** A token that could not be verified does not count. */
const verifying = (tokens: JwtTokens, token: string): Promise<unknown> | undefined =>
  tokens.verifying(token)?.catch(() => undefined);

function providerOf(settings: TokenSettings, clock: Clock): TokenProvider {
  switch (settings.kind) {
    case 'simple':
      return { kind: 'simple', tokens: new SimpleTokens({ ...settings, clock }) };
    case 'jwt':
      return { kind: 'jwt', tokens: new JwtTokens({ ...settings, clock }) };
    case 'none':
      return undefined;
    default:
      return unreachable(settings);
  }
}

function endTokens(tokens: SimpleTokens, ended: EndedTokens): void {
  switch (ended.of) {
    case 'nobody':
      return;
    case 'user':
      tokens.endUser(ended.user);
      return;
    case 'everybody':
      tokens.endAll();
      return;
    default:
      unreachable(ended);
  }
}
