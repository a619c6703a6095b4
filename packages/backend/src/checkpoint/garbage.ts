import { assert, type LogPosition, Mutex } from '@engram/core';

/** Positions passed to storage in one call. */
export const CALL_POSITIONS = 2000;

/** Many positions of which most are covered: those that waited when a checkpoint came. Before `next` they have been told apart. */
interface Mixed {
  readonly positions: readonly LogPosition[];
  next: number;
}

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
  /** There may be millions, and nothing else would run while they were told apart at once. */
  #mixed: Mixed[] = [];
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
    if (this.#covered.length + this.#dropping.length + this.#mixed.length === 0) return this.#waiting;
    const mixed = this.#mixed.flatMap(({ positions, next }) => positions.slice(next));
    return [...this.#waiting, ...this.#covered, ...this.#dropping, ...mixed];
  }

  /** The versions at these positions have left the index. */
  add(positions: readonly LogPosition[]): void {
    for (const position of positions) (position < this.#from ? this.#covered : this.#waiting).push(position);
  }

  /** A checkpoint counts whose replay begins at `from`. */
  cover(from: LogPosition): void {
    assert(from >= this.#from, 'a checkpoint before the newest one');
    this.#from = from;
    this.#mix(this.#waiting);
    this.#waiting = [];
  }

  /**
   * Has `drop` drop what is covered, at most CALL_POSITIONS in a call. `giveWay` is waited for between two calls. If `drop` rejects, what
   * it was given is left, because storage may know of none.
   */
  dropCovered(drop: (positions: readonly LogPosition[]) => Promise<void>, giveWay: () => Promise<void>): Promise<void> {
    return this.#mutex.run(async () => {
      this.#mix(this.#covered.splice(0));
      for (let lists = this.#mixed.length; lists > 0; ) {
        const mixed = this.#mixed[0]!;
        const some = mixed.positions.slice(mixed.next, mixed.next + CALL_POSITIONS);
        mixed.next += some.length;
        if (mixed.next === mixed.positions.length) {
          this.#mixed.shift();
          lists -= 1;
        }
        await this.#dropCoveredOf(some, drop);
        if (lists > 0) await giveWay();
      }
    });
  }

  #mix(positions: readonly LogPosition[]): void {
    if (positions.length > 0) this.#mixed.push({ positions, next: 0 });
  }

  async #dropCoveredOf(
    positions: readonly LogPosition[],
    drop: (positions: readonly LogPosition[]) => Promise<void>,
  ): Promise<void> {
    const dropping: LogPosition[] = [];
    for (const position of positions) (position < this.#from ? dropping : this.#waiting).push(position);
    if (dropping.length === 0) return;
    this.#dropping = dropping;
    try {
      await drop(dropping);
    } catch (error) {
      this.add(dropping);
      throw error;
    } finally {
      this.#dropping = [];
    }
  }
}
