import {
  AuthState,
  decodeAuthRecord,
  decodeAuthState,
  encodeAuthState,
  type EndedTokens,
  takeAuthRecord,
} from '@engram/auth';
import { EMPTY_BYTES } from '@engram/core';

/** Who is told what takes effect on users, roles and tokens. Called synchronously; must not throw. */
export interface AuthListener {
  /** A user has logged in, with a simple token of this digest. */
  loggedIn(digest: Uint8Array, user: string): void;
  /** Users or roles are others now, or whether they count. These simple tokens have ended. */
  changed(ended: EndedTokens): void;
}

/** Users and roles as they have taken effect on a node. */
export interface AuthView {
  /** Whether users and roles count. A field, because every call asks for it. */
  readonly enabled: boolean;
  readonly state: AuthState;
  /** Disposing ends it. What a replay at a start brings is told to nobody: simple tokens do not outlive a process. */
  listen(listener: AuthListener): Disposable;
}

/** The users and roles that the log leads to. They change only as `ReplicatedState` applies the records of the log. */
export class AuthStore implements AuthView {
  enabled = false;
  #state: AuthState = AuthState.first;
  readonly #listeners = new Set<AuthListener>();

  get state(): AuthState {
    return this.#state;
  }

  listen(listener: AuthListener): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }

  /** From a checkpoint. Throws CoderError for damage. */
  adopt(bytes: Uint8Array): void {
    this.#become(decodeAuthState(bytes));
  }

  /** As `adopt` reads it. Empty if there were never any users and roles. */
  encode(): Uint8Array {
    return this.#state === AuthState.first ? EMPTY_BYTES : encodeAuthState(this.#state);
  }

  /** A record that the state has already, as it may come in the replay after a checkpoint, changes nothing. */
  apply(change: Uint8Array): void {
    const { state, ended } = takeAuthRecord(this.#state, decodeAuthRecord(change));
    if (state === this.#state) return;
    this.#become(state);
    for (const listener of this.#listeners) listener.changed(ended);
  }

  loggedIn(digest: Uint8Array, user: string): void {
    for (const listener of this.#listeners) listener.loggedIn(digest, user);
  }

  #become(state: AuthState): void {
    this.#state = state;
    this.enabled = state.enabled;
  }
}
