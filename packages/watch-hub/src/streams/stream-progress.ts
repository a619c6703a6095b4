import { type Clock, LinkedQueue, type Revision, type Timer } from '@engram/core';
import type { Job, Loop, Task } from '@engram/loop';
import type { Published } from '../published.ts';
import { type Walks, walking } from '../walks.ts';
import type { WatcherState } from '../live/watcher-state.ts';

export interface StreamProgressOptions {
  readonly clock: Clock;
  /** Time between two rounds of periodic progress. */
  readonly delayMs: number;
  readonly loop: Loop;
  readonly walks: Walks;
  readonly task: Task;
  readonly published: Published;
  /** Calls the sink's `progress` if the sink has room. */
  readonly send: (watcher: WatcherState | undefined, revision: Revision) => void;
}

/**
 * Progress of one stream. The numbers that an answer needs are counted while watchers come and go, so a request costs
 * the same with one watcher and with 100,000. All requests of one turn of the event loop get at most two answers: one
 * within the first request, and one at the end of the turn if more requests followed.
 */
export class StreamProgress {
  readonly #options: StreamProgressOptions;
  #watchers = 0;
  /** The number of watchers that are not live. */
  #behind = 0;
  /**
   * Watchers that became live before the hub reached their start revision, in the order in which they became live. The
   * hub may have reached some of these revisions since.
   */
  readonly #starting = new LinkedQueue<WatcherState>();
  readonly #periodic = new Set<WatcherState>();
  #timer: Timer | undefined;
  /** True from an answer until the end of its turn, or while an answer is postponed to the end of the turn. */
  #answered = false;
  #askedAgain = false;

  constructor(options: StreamProgressOptions) {
    this.#options = options;
  }

  /** Adds a new watcher, which is not live. */
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

  /** Counts a watcher that was live. */
  fellBehind(watcher: WatcherState): void {
    this.#behind += 1;
    if (watcher.queued) this.#starting.remove(watcher);
  }

  /** Removes a watcher that is not live any more. */
  remove(watcher: WatcherState): void {
    this.#watchers -= 1;
    this.#behind -= 1;
    if (!this.#periodic.delete(watcher) || this.#periodic.size > 0) return;
    this.stop();
  }

  /**
   * Answers a progress request of the client. If a watcher is behind or starts in the future, there is no answer, and
   * the client must ask again.
   */
  request(): void {
    if (this.#answered) this.#askedAgain = true;
    else this.#answer();
  }

  /** Stops periodic progress. */
  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #answer(): void {
    const { clock, loop, task, published, send } = this.#options;
    // Events of the batch that is being published may have been sent already. Progress below them would be a step back.
    const { inBetween } = published;
    const synced = inBetween ? 'not-known-yet' : this.#synced(published.revision);
    if (synced === 'no') return;
    if (synced === 'yes') send(undefined, published.revision);
    else this.#askedAgain = true;
    this.#answered = true;
    const resume = (): void => {
      this.#answered = false;
      if (!this.#askedAgain) return;
      this.#askedAgain = false;
      this.#answer();
    };
    const then = (): void => published.afterBatch(resume);
    if (synced === 'yes' || inBetween) clock.soon(then);
    else loop.later(task, then);
  }

  #synced(revision: Revision): 'yes' | 'no' | 'not-known-yet' {
    if (this.#watchers === 0 || this.#behind > 0) return 'no';
    return this.#starting.first === undefined ? 'yes' : this.#options.loop.slice(() => this.#started(revision));
  }

  /** `#synced`, as far as those are concerned that wait for their start, in a slice. */
  #started(revision: Revision): 'yes' | 'no' | 'not-known-yet' {
    const { loop } = this.#options;
    for (;;) {
      const watcher = this.#starting.first;
      if (watcher === undefined) return 'yes';
      if (watcher.request.startRevision > revision) return 'no';
      this.#starting.remove(watcher);
      if (loop.shouldYield()) return 'not-known-yet';
    }
  }

  #arm(): Timer {
    const { clock, delayMs } = this.#options;
    const timer = clock.after(delayMs, () => {
      const { walks, task } = this.#options;
      walks.begin(task, this.#round(timer));
    });
    return timer;
  }

  /** Begins in the call of the timer that has fired, or in a later slice. */
  *#round(fired: Timer): Job<void> {
    const { loop, published, send } = this.#options;
    const visit = (watcher: WatcherState): boolean => {
      if (watcher.quiet && watcher.synced(published.revision)) send(watcher, published.revision);
      watcher.quiet = true;
      return true;
    };
    const walk = walking(this.#periodic, visit, loop);
    for (;;) {
      while (published.inBetween) yield new Promise<void>((resolve) => published.afterBatch(resolve));
      if (walk.next().done === true) break;
      yield;
    }
    // Meanwhile the last watcher with progress may have been removed, or a new watcher may have set its own timer.
    if (this.#timer === fired) this.#timer = this.#arm();
  }
}
