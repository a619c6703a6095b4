import type { AuthState } from '@engram/auth';

/**
 * Users and roles as they will be when everything that is decided has taken effect: a write that is decided after a change of them
 * is judged by it. When the leadership ends, this is discarded, and the state needs no undo.
 */
export class DecidedAuth {
  /** Whether users and roles count. A field, because every decision asks for it. */
  enabled: boolean;
  #state: AuthState;

  constructor(state: AuthState) {
    this.#state = state;
    this.enabled = state.enabled;
  }

  get state(): AuthState {
    return this.#state;
  }

  /** The change that leads to this state is decided: it is appended, or the leadership ends. */
  decide(state: AuthState): void {
    this.#state = state;
    this.enabled = state.enabled;
  }
}
