/** An event that will happen unless it is cancelled before. */
export class SimEvent {
  readonly atMs: number;
  /** Orders events that are due at the same time, the lowest first. `order` decides between equal ties. */
  readonly tie: number;
  readonly order: number;
  #fire: (() => void) | undefined;

  constructor(atMs: number, tie: number, order: number, fire: () => void) {
    this.atMs = atMs;
    this.tie = tie;
    this.order = order;
    this.#fire = fire;
  }

  /** True until the event fires or is cancelled. */
  get waits(): boolean {
    return this.#fire !== undefined;
  }

  /** May be called again, and after the event has fired. */
  cancel(): void {
    this.#fire = undefined;
  }

  /** Has an effect at most once. A cancelled event does nothing. */
  fire(): void {
    const fire = this.#fire;
    this.#fire = undefined;
    fire?.();
  }
}

const isBefore = (left: SimEvent, right: SimEvent): boolean =>
  left.atMs !== right.atMs
    ? left.atMs < right.atMs
    : left.tie !== right.tie
      ? left.tie < right.tie
      : left.order < right.order;

/** A binary heap. Cancelled events stay in it until they reach the top. */
export class EventQueue {
  readonly #heap: SimEvent[] = [];

  push(event: SimEvent): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(event);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(event, heap[parent]!)) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = event;
  }

  /** The next event that waits. Undefined if none does. */
  first(): SimEvent | undefined {
    for (;;) {
      const first = this.#heap[0];
      if (first === undefined || first.waits) return first;
      this.#removeFirst();
    }
  }

  take(): SimEvent | undefined {
    const first = this.first();
    if (first !== undefined) this.#removeFirst();
    return first;
  }

  /** The number of events that wait. O(n). */
  count(): number {
    let waiting = 0;
    for (const event of this.#heap) if (event.waits) waiting += 1;
    return waiting;
  }

  #removeFirst(): void {
    const heap = this.#heap;
    const last = heap.pop()!;
    if (heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child += 1;
      if (!isBefore(heap[child]!, last)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
  }
}
