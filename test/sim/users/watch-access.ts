import { type ErrorCode, errorTable } from '@engram/core';
import type { StoreHistory } from '@engram/sim/model';
import { expectThat } from '../judge/finding.ts';
import type { SeenGroup, Watched } from '../judge/watch-judge.ts';
import { type AccessJudge, type Asked, isDenial } from './access-judge.ts';
import type { Credential } from './credentials.ts';
import type { Desk } from './desk.ts';
import { readNeed } from './needs.ts';

/** Where a watcher was created. */
export interface WatchedAt {
  /** The node had applied the log before this position. */
  readonly localFrom: number;
  /** Undefined: clients have no users. */
  readonly desk: Desk | undefined;
}

/** Judges by the log which watchers begin, go on and end. A node judges them by its own users, as of then. */
export class WatchAccess {
  readonly #access: AccessJudge;
  readonly #history: StoreHistory;

  constructor(access: AccessJudge, history: StoreHistory) {
    this.#access = access;
    this.#history = history;
  }

  created(credential: Credential, watched: Watched, { localFrom, desk }: WatchedAt): void {
    if (desk !== undefined) this.#access.answered(askedOf(credential, watched, localFrom), undefined);
  }

  /** False if the refusal is not about rights. */
  refused(credential: Credential, watched: Watched, reason: string, { localFrom, desk }: WatchedAt): boolean {
    const code = codeOf(reason);
    if (code === undefined || desk === undefined) return false;
    const excuses = { listensSinceMs: desk.sinceMs, troubled: true, nowMs: 0 };
    this.#access.refused(askedOf(credential, watched, localFrom), code, excuses);
    return true;
  }

  /** The watcher has been given events of these revisions. */
  sees(credential: Credential, { name, range }: Watched, groups: readonly SeenGroup[]): void {
    for (const { revision } of groups) {
      const position = this.#history.writeOf(revision)?.position ?? 1;
      expectThat(
        this.#access.mightWatch(credential, range, position),
        'access',
        () => `${name} of ${credential.name} sees revision ${revision}, and may not since before it`,
      );
    }
  }

  /** The watcher was ended. It had begun when its node had applied the log before `since`. */
  ended(credential: Credential, { name, range }: Watched, since: number, reason: string): void {
    const code = codeOf(reason);
    const nobody = code === 'UserEmpty' && this.#access.mightBeNobody(credential, since);
    expectThat(
      nobody || (code !== undefined && this.#access.mightWatch(credential, range, since, false)),
      'access',
      () => `${name} of ${credential.name} was ended (${reason}), and has had the right all the time`,
    );
  }

  /** The watcher goes on, and everything has taken effect. */
  goesOn(credential: Credential, { name, range }: Watched): void {
    expectThat(
      this.#access.mayWatch(credential, range, this.#history.next),
      'access',
      () => `${name} of ${credential.name} goes on, and may not`,
    );
  }
}

const askedOf = (credential: Credential, { name, range }: Watched, localFrom: number): Asked => ({
  what: name,
  credential,
  need: readNeed({ range }),
  localFrom,
  from: localFrom,
});

/** The refusal that the text of a watch response tells. */
const codeOf = (reason: string): ErrorCode | undefined =>
  (Object.keys(errorTable) as ErrorCode[]).find((code) => isDenial(code) && reason.endsWith(errorTable[code].message));
