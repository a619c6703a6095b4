import { type Clock, LinkedQueue, type Revision, type Timer } from '@engram/core';
import type { Published } from './published.ts';
import { inTurns, Walk } from './walk.ts';
import type { WatcherState } from './watcher-state.ts';

export interface StreamProgressOptions {
  readonly clock: Clock;
  /** Between two rounds of periodic progress. */
  readonly delayMs: number;
  /** See SliceLimits. */
  readonly sliceUs: number;
  readonly published: Published;
  /** Tells the sink, where it has room. */
  readonly tell: (watcher: WatcherState | undefined, revision: Revision) => void;
}

/** Watchers that were waiting for their start: so many are looked at in a turn. */
const LOOKS_MAX = 10_000;

/**
 * Progress of one stream. What a mark needs is counted while watchers come and go, so a request costs the same with one
 * watcher and with 100,000. All requests of a turn of the event loop get two answers at most: one at once, and one at
 * the turn's end if others came behind it.
 */
export class StreamProgress {
  readonly #options: StreamProgressOptions;
  #watchers = 0;
  /** Those that are not live. */
  #behind = 0;
  /** Watchers that became live before the store had reached their start, in that order. Some it has reached since. */
  readonly #starting = new LinkedQueue<WatcherState>();
  readonly #periodic = new Set<WatcherState>();
  #timer: Timer | undefined;
  /** An answer has left in this turn, or could not be found in it. */
  #answered = false;
  #askedAgain = false;

  constructor(options: StreamProgressOptions) {
    this.#options = options;
  }

  /** A new watcher, not live. */
  add(watcher: WatcherState): void {
    this.#watchers += 1;
    this.#behind += 1;
    if (!watcher.request.progressNotify) return;
    this.#periodic.add(watcher);
    this.#timer ??= this.#arm();
  }

  live(watcher: WatcherState): void {
    this.#behind -= 1;
    if (watcher.request.startRevision > this.#options.published.revision) this.#starting.push(watcher);
  }

  /** It was live. */
  fellBehind(watcher: WatcherState): void {
    this.#behind += 1;
    if (watcher.queued) this.#starting.remove(watcher);
  }

  /** It is not live. */
  remove(watcher: WatcherState): void {
    this.#watchers -= 1;
    this.#behind -= 1;
    if (!this.#periodic.delete(watcher) || this.#periodic.size > 0) return;
    this.stop();
  }

  /** The client asks. Nothing comes where a watcher is behind or starts in the future: then it has to ask again. */
  request(): void {
    if (this.#answered) this.#askedAgain = true;
    else this.#answer();
  }

  /** No more periodic progress. */
  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #answer(): void {
    const { clock, published, tell } = this.#options;
    // Events of the batch that is being published may have left: a mark below them would be a step back.
    const synced = published.inBetween ? 'not-known-yet' : this.#synced(published.revision);
    if (synced === 'no') return;
    if (synced === 'yes') tell(undefined, published.revision);
    else this.#askedAgain = true;
    this.#answered = true;
    const goOn = (): void => {
      this.#answered = false;
      if (!this.#askedAgain) return;
      this.#askedAgain = false;
      this.#answer();
    };
    clock.soon(() => published.whole(goOn));
  }

  #synced(revision: Revision): 'yes' | 'no' | 'not-known-yet' {
    if (this.#watchers === 0 || this.#behind > 0) return 'no';
    for (let looks = 0; looks < LOOKS_MAX; looks += 1) {
      const watcher = this.#starting.first;
      if (watcher === undefined) return 'yes';
      if (watcher.request.startRevision > revision) return 'no';
      this.#starting.remove(watcher);
    }
    return 'not-known-yet';
  }

  #arm(): Timer {
    const { clock, delayMs } = this.#options;
    return clock.after(delayMs, () => this.#round());
  }

  #round(): void {
    const { clock, sliceUs, published, tell } = this.#options;
    const fired = this.#timer;
    const walk = new Walk(this.#periodic, sliceUs);
    const step = (): boolean => {
      const { revision } = published;
      const more = walk.step((watcher) => {
        if (watcher.quiet && watcher.synced(revision)) tell(watcher, revision);
        watcher.quiet = true;
      });
      // Nobody may want a round any more, or somebody again, who has set a timer of his own.
      if (!more && this.#timer === fired) this.#timer = this.#arm();
      return more;
    };
    published.whole(() => inTurns((goOn) => clock.soon(() => published.whole(goOn)), step));
  }
}
