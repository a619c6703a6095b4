import { assert, type LogPosition, Mutex } from '@engram/core';

/**
 * The records whose versions have left the index, and which storage still has. A restart replays the log from the newest checkpoint
 * on without gaps, so a record behind it waits until a checkpoint covers it. A checkpoint that is written meanwhile must name all of
 * them: the state that it holds does not know them any more, and storage would keep them for ever.
 *
 * A position goes one way: waiting, covered, dropping, gone. One that could not be dropped is covered again.
 */
export class Garbage {
  /** Records before this position are covered by the newest checkpoint. */
  #from: LogPosition;
  #waiting: LogPosition[] = [];
  #covered: LogPosition[] = [];
  /** Storage may know of these already, or not. */
  #dropping: readonly LogPosition[] = [];
  readonly #mutex = new Mutex();

  /** @param from where the replay after the newest checkpoint begins. @param left what that checkpoint names */
  constructor(from: LogPosition, left: readonly LogPosition[]) {
    this.#from = from;
    this.add(left);
  }

  /** Where the replay after the newest checkpoint begins. */
  get from(): LogPosition {
    return this.#from;
  }

  /** What a checkpoint that is written now must name. Not to be changed; it may grow meanwhile. */
  get left(): readonly LogPosition[] {
    if (this.#covered.length === 0 && this.#dropping.length === 0) return this.#waiting;
    return [...this.#waiting, ...this.#covered, ...this.#dropping];
  }

  /** The versions at these positions have left the index. */
  add(positions: readonly LogPosition[]): void {
    for (const position of positions) (position < this.#from ? this.#covered : this.#waiting).push(position);
  }

  /** A checkpoint counts whose replay begins at `from`. */
  cover(from: LogPosition): void {
    assert(from >= this.#from, 'a checkpoint before the newest one');
    this.#from = from;
    const waiting = this.#waiting;
    this.#waiting = [];
    this.add(waiting);
  }

  /** Has `drop` drop what is covered. If that rejects, all of it is left, because storage may know of none. */
  dropCovered(drop: (positions: readonly LogPosition[]) => Promise<void>): Promise<void> {
    return this.#mutex.run(async () => {
      const dropping = this.#covered;
      if (dropping.length === 0) return;
      this.#covered = [];
      this.#dropping = dropping;
      try {
        await drop(dropping);
      } catch (error) {
        this.add(dropping);
        throw error;
      } finally {
        this.#dropping = [];
      }
    });
  }
}
