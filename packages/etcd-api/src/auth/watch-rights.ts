import type { KeyAccess } from '@engram/auth';
import { accessOf, type AuthView } from '@engram/backend';
import type { Job, Loop, PureJob, Task } from '@engram/loop';

const RECHECK: Task = { work: 'durable', caller: 'watches', stage: 'permit' };

/** A stream of watchers. */
export interface RightsHolder {
  /** Resolves when it is known who its client is. Undefined: it is. */
  identified(): Promise<unknown> | undefined;
  /** Of the client now, or when it began its newest watcher. Empty: it has not logged in. */
  user(): string;
  /** Ends the watchers that the user may not have any more. Undefined: everything is permitted. */
  recheck(access: KeyAccess): PureJob<void>;
  /** Its watchers were held back, and are no more. */
  released(): void;
}

/**
 * Ends watchers that lose their right while they run. In etcd they go on. The first slice of the check is in the turn in which
 * the change takes effect, before the events that come after it. Watchers that the check has not come to are held back until it has.
 */
export class WatchRights {
  readonly #view: AuthView;
  readonly #loop: Loop;
  /** With the number of the change up to which each was checked. One that comes is judged when its watchers are created. */
  readonly #holders = new Map<RightsHolder, number>();
  /** Changes so far. */
  #changes = 0;
  #checking = false;

  constructor(view: AuthView, loop: Loop) {
    this.#view = view;
    this.#loop = loop;
    view.listen({ loggedIn: () => {}, changed: () => this.#changed() });
  }

  add(holder: RightsHolder): void {
    this.#holders.set(holder, this.#changes);
  }

  remove(holder: RightsHolder): void {
    this.#holders.delete(holder);
  }

  /** Whether the holder may get no event: users or roles have changed since its watchers were checked. */
  holdsBack(holder: RightsHolder): boolean {
    if (!this.#checking) return false;
    const checked = this.#holders.get(holder);
    return checked !== undefined && checked < this.#changes;
  }

  #changed(): void {
    this.#changes += 1;
    if (this.#checking || !this.#view.enabled || this.#holders.size === 0) return;
    this.#checking = true;
    void this.#loop.run(RECHECK, this.#check());
  }

  *#check(): Job<void> {
    let changes: number;
    do {
      changes = this.#changes;
      for (const holder of [...this.#holders.keys()]) {
        const identified = holder.identified();
        if (identified !== undefined) yield identified;
        const judged = this.#changes;
        const { state } = this.#view;
        const user = holder.user();
        // How old the log-in is does not count: the watcher goes on as long as its user may read.
        const authRevision = user === '' ? 0 : state.revision;
        const access = yield* accessOf(state, { user, authRevision }, this.#loop);
        if (access !== undefined) yield* this.#whileNewest(judged, holder.recheck(access));
        if (!this.#holders.has(holder)) continue;
        this.#holders.set(holder, judged);
        if (judged === this.#changes) holder.released();
      }
    } while (changes !== this.#changes);
    this.#checking = false;
  }

  /** A check ends with the next change, and begins anew: a watcher that has begun since may need rights that this one does not know. */
  *#whileNewest(judged: number, check: PureJob<void>): PureJob<void> {
    while (judged === this.#changes && check.next().done !== true) yield;
  }
}
