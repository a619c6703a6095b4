import { SIMPLE_TOKEN_TTL_MS } from '@engram/auth';
import type { ErrorCode, KeyRange } from '@engram/core';
import type { StoreHistory } from '@engram/sim/model';
import { expectThat } from '../judge/finding.ts';
import type { Credential } from './credentials.ts';
import { type ModelCaller, type Need, refusalOf } from './needs.ts';
import { holds, isRoot, UsersHistory, type UsersState } from './users-model.ts';

/** A call of a client that says who it is. */
export interface Asked {
  readonly what: string;
  readonly credential: Credential;
  readonly need: Need;
  /** When the call was sent, its member had applied the log before this position, and does what it does by itself from there on. */
  readonly localFrom: number;
  /** What the decision sees is not older than this. */
  readonly from: number;
}

/** Why a token that counts may be unknown to a member. */
export interface TokenExcuses {
  /** The member has been told of log-ins since then. What its start has read it does not know. */
  readonly listensSinceMs: number;
  /** It may not reach the leader, which knows how far the log goes. */
  readonly troubled: boolean;
  readonly nowMs: number;
}

const CODES: ReadonlySet<ErrorCode> = new Set([
  'UserEmpty',
  'UserNotFound',
  'AuthOldRevision',
  'PermissionDenied',
  'InvalidAuthToken',
]);

/** Whether a refusal is about the caller's rights. */
export const isDenial = (code: string): boolean => CODES.has(code as ErrorCode);

/** Tokens may end by their time a little earlier, by other clocks. */
const TOKEN_MS_MIN = 0.8 * SIMPLE_TOKEN_TTL_MS;

/**
 * Judges by the log what each caller may do. Who a caller is, is found where the call arrives, in a state `a` of the users that this
 * member has at the call or later; what it may do, where the call is decided, in a state `d` that is not before `a`.
 */
export class AccessJudge {
  readonly users: UsersHistory;
  readonly #history: StoreHistory;

  constructor(history: StoreHistory) {
    this.#history = history;
    this.users = new UsersHistory(history);
  }

  /** The call was answered. `decidedAt`: everything before this position was decided before it, and nothing else. */
  answered(asked: Asked, decidedAt: number | undefined): void {
    const permitted = decidedAt === undefined ? this.#isPermitted(asked) : this.mayWrite(asked, decidedAt);
    expectThat(
      permitted,
      'access',
      () => `${asked.what} of ${asked.credential.name} was answered, ${this.#why(asked, decidedAt)}`,
    );
  }

  /** Whether the call may have been decided at this position. */
  mayWrite(asked: Asked, decidedAt: number): boolean {
    return this.#refusals(asked, [decidedAt]).has(undefined);
  }

  #isPermitted(asked: Asked): boolean {
    return this.#refusals(asked, this.#decisions(asked)).has(undefined);
  }

  refused(asked: Asked, code: ErrorCode, excuses: TokenExcuses): void {
    const codes = this.#refusals(asked, this.#decisions(asked));
    if (code === 'InvalidAuthToken' && this.#mayBeUnknown(asked, excuses)) return;
    expectThat(
      codes.has(code),
      'access',
      () => `${asked.what} of ${asked.credential.name} was refused with ${code}, and could be ${textOf(codes)}`,
    );
  }

  #why(asked: Asked, decidedAt: number | undefined): string {
    const decisions = decidedAt === undefined ? this.#decisions(asked) : [decidedAt];
    return `and every state refuses it: ${textOf(this.#refusals(asked, decisions))}`;
  }

  /** Positions at which the call may have been decided: where the state of the users or of the store changes. */
  #decisions({ from, need }: Asked): readonly number[] {
    const { next, writes } = this.#history;
    const states = this.users.between(from, next);
    // Without users there is nothing to look up.
    if (states.every(({ state }) => !state.enabled)) return [from];
    const ofLeases = need.kind === 'lease' || need.kind === 'leases';
    if (!ofLeases && (need.kind !== 'keys' || need.keys.leases.length === 0))
      return states.map((state) => Math.max(from, state.from));
    // The keys of leases change with the store.
    const positions = [from, next];
    for (let at = writes.length - 1; at >= 0 && writes[at]!.position > from; at -= 1)
      positions.push(writes[at]!.position);
    return positions;
  }

  /** Every outcome that some pair of states explains. */
  #refusals(asked: Asked, decisions: readonly number[]): ReadonlySet<ErrorCode | undefined> {
    const codes = new Set<ErrorCode | undefined>();
    for (const position of decisions) {
      const state = this.users.at(position);
      const begin = Math.min(asked.localFrom, position);
      for (const { from, state: admitting } of this.users.between(begin, position)) {
        const caller = this.#callerOf(asked.credential, Math.max(from, begin), admitting);
        if (caller === undefined) codes.add('InvalidAuthToken');
        else {
          codes.add(refusalOf(this.#history, position, state, caller, asked.need));
          // A read is judged again when it has its answer, by the revision alone: whether users still count is not asked (etcd: doSerialize).
          const moved = caller.authRevision !== 0 && caller.authRevision !== state.revision;
          if (moved && isRead(asked.need)) codes.add('AuthOldRevision');
        }
      }
    }
    return codes;
  }

  /** Whom a member takes the caller for that has applied the log up to the position, where this state of the users holds. */
  #callerOf({ kind, user, from, revision }: Credential, position: number, state: UsersState): ModelCaller | undefined {
    if (kind === 'nobody' || !state.enabled) return NOBODY;
    if (kind === 'bad') return undefined;
    if (kind === 'jwt') return { user, authRevision: revision };
    if (kind === 'simple' && this.users.tokensEnd(user, from) <= position) return undefined;
    return { user, authRevision: state.revision };
  }

  #mayBeUnknown({ credential }: Asked, { listensSinceMs, troubled, nowMs }: TokenExcuses): boolean {
    if (credential.kind !== 'simple') return false;
    return troubled || listensSinceMs >= credential.sinceMs || nowMs - credential.sinceMs >= TOKEN_MS_MIN;
  }

  // Watches.

  /** Whether a watcher of the user goes on where everything before the position has taken effect. */
  mayWatch({ user }: Credential, range: KeyRange, position: number): boolean {
    const state = this.users.at(position);
    return !state.enabled || isRoot(state, user) === true || holds(state, user, 'read', range);
  }

  /**
   * Whether a watcher that began before this position, where users did not count, may be taken for nobody's once they do: its token has
   * not been asked for, and may be unknown by then.
   */
  mightBeNobody({ kind }: Credential, from: number): boolean {
    if (kind === 'jwt' || kind === 'certificate' || this.users.at(from).enabled) return false;
    return this.users.between(from, this.#history.next).some(({ state }) => state.enabled);
  }

  /** Whether it does at some position from `from` on. */
  mightWatch(credential: Credential, range: KeyRange, from: number, wanted = true): boolean {
    return this.users
      .between(from, this.#history.next)
      .some((since) => this.mayWatch(credential, range, Math.max(from, since.from)) === wanted);
  }
}

function isRead(need: Need): boolean {
  if (need.kind === 'lease') return need.what === 'read';
  return need.kind === 'leases' || (need.kind === 'keys' && need.keys.write.length + need.keys.leases.length === 0);
}

const NOBODY: ModelCaller = { user: '', authRevision: 0 };

const textOf = (codes: ReadonlySet<ErrorCode | undefined>): string =>
  [...codes].map((code) => code ?? 'permitted').join(', ');
