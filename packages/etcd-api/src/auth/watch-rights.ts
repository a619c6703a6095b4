import type { KeyAccess } from '@engram/auth';
import { accessOf, type AuthView } from '@engram/backend';
import type { Loop, PureJob, Task } from '@engram/loop';

const RECHECK: Task = { work: 'durable', caller: 'watches', stage: 'permit' };

/** A stream of watchers. */
export interface RightsHolder {
  /** Of the client now, or when it began its newest watcher. Empty: it has not logged in. */
  user(): string;
  /** Ends the watchers that the user may not have any more. Undefined: everything is permitted. */
  recheck(access: KeyAccess): PureJob<void>;
}

/**
 * Ends watchers that lose their right while they run. In etcd they go on. The first slice of the check is in the turn in which
 * the change takes effect, before the events that come after it.
 */
export class WatchRights {
  readonly #view: AuthView;
  readonly #loop: Loop;
  readonly #holders = new Set<RightsHolder>();
  /** A check is under way. `again`: users or roles have changed since it began. */
  #checking: 'once' | 'again' | undefined;

  constructor(view: AuthView, loop: Loop) {
    this.#view = view;
    this.#loop = loop;
    view.listen({ loggedIn: () => {}, changed: () => this.#changed() });
  }

  add(holder: RightsHolder): void {
    this.#holders.add(holder);
  }

  remove(holder: RightsHolder): void {
    this.#holders.delete(holder);
  }

  #changed(): void {
    if (!this.#view.enabled || this.#holders.size === 0) return;
    if (this.#checking !== undefined) this.#checking = 'again';
    else void this.#loop.run(RECHECK, this.#check());
  }

  *#check(): PureJob<void> {
    do {
      this.#checking = 'once';
      for (const holder of [...this.#holders]) {
        const { state } = this.#view;
        const user = holder.user();
        // How old the log-in is does not count: the watcher goes on as long as its user may read.
        const authRevision = user === '' ? 0 : state.revision;
        const access = yield* accessOf(state, { user, authRevision }, this.#loop);
        if (access !== undefined) yield* holder.recheck(access);
      }
    } while ((this.#checking as 'once' | 'again') === 'again');
    this.#checking = undefined;
  }
}
