import { applyAuthChange, type AuthChange, AuthState, encodeAuthRecord, refuseLogin } from '@engram/auth';
import { EngramError } from '@engram/core';
import type { DecidedAuth } from '../auth/decided-auth.ts';
import { permitRoot } from '../auth/permits.ts';
import type { Caller } from '../caller.ts';
import type { Decided } from '../decide/write.ts';
import { MARK_COST_BYTES } from '../quota.ts';
import type { Login } from '../store.ts';
import type { WritePath } from '../write/write-path.ts';

export interface AuthDecisionsOptions {
  readonly auth: DecidedAuth;
  readonly writes: WritePath;
  /** See `BackendCluster`. Undefined: the node is alone. */
  readonly everyMemberKnowsAuth: (() => Promise<boolean>) | undefined;
}

/** The leader's decisions on users and roles. Each change is one record of the log. */
export class AuthDecisions {
  readonly #options: AuthDecisionsOptions;

  constructor(options: AuthDecisionsOptions) {
    this.#options = options;
  }

  /**
   * A change that leaves everything as it is succeeds without a record. Errors: those of `applyAuthChange`, and NotCapable if it
   * would be the first and another member might not know its record.
   */
  async change(change: AuthChange, caller: Caller): Promise<void> {
    const { auth, everyMemberKnowsAuth } = this.#options;
    if (auth.state === AuthState.first && everyMemberKnowsAuth !== undefined && !(await everyMemberKnowsAuth())) {
      throw new EngramError('NotCapable');
    }
    return this.#options.writes.decide(() => this.#changing(change, caller), MARK_COST_BYTES, caller);
  }

  #changing(change: AuthChange, caller: Caller): Decided<void> {
    const { auth, writes } = this.#options;
    permitRoot(auth.state, caller);
    const outcome = applyAuthChange(auth.state, change);
    if (outcome.kind === 'refused') throw new EngramError(outcome.code);
    if (outcome.kind === 'unchanged') return { showsState: true, answer: nothing };
    writes.admit();
    auth.decide(outcome.state);
    const record = encodeAuthRecord({ revision: outcome.state.revision, change });
    return { mark: { kind: 'auth', change: record }, origin: caller.origin, answer: nothing };
  }

  /**
   * Errors: AuthNotEnabled, AuthFailed; AuthOldRevision if the password was checked on users that are others by now: who asks
   * checks it again.
   */
  logIn(login: Login, caller: Caller): Promise<void> {
    return this.#options.writes.decide(() => this.#loggingIn(login, caller), MARK_COST_BYTES, caller);
  }

  #loggingIn({ user, authRevision, digest }: Login, { origin }: Caller): Decided<void> {
    const { auth, writes } = this.#options;
    const refusal = refuseLogin(auth.state, user);
    if (refusal !== undefined) throw new EngramError(refusal);
    if (authRevision !== auth.state.revision) throw new EngramError('AuthOldRevision');
    writes.admit();
    return { mark: { kind: 'login', user, digest }, origin, answer: nothing };
  }
}

const nothing = (): void => undefined;
