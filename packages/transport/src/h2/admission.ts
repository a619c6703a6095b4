import { RUNNING_MAX_BYTES, SEND_QUEUE_MAX_BYTES } from './limits.ts';

/** A call whose request is complete. */
export interface Admissible {
  /** It ended while it waited. */
  readonly finished: boolean;
  /** True: not in this turn of the event loop. `again` is called in a later one. */
  holdsBack(again: () => void): boolean;
  start(): void;
}

/**
 * Lets calls of one connection start, in order. A call that was cancelled still counts until its handler is through:
 * whoever opens and resets streams in a row (CVE-2023-44487, CVE-2025-8671) gets no more handlers running than
 * whoever waits for his answers. Nor does a call start while the client leaves too many answers unread. What has to
 * wait holds its stream, and streams are bounded; while something waits, the client gets no new window to send in.
 */
export class Admission {
  readonly #runningMax: number;
  readonly #backlogBytes: () => number;
  readonly #emptied: () => void;
  readonly #advance = (): void => this.advance();
  #running = 0;
  #runningBytes = 0;
  /** Those before `#first` have been let in. */
  #waiting: Admissible[] = [];
  #first = 0;
  #letting = false;

  /** `backlogBytes` says how much waits to be sent to the client; `emptied` is called when none waits any more. */
  constructor(runningMax: number, backlogBytes: () => number, emptied: () => void) {
    this.#runningMax = runningMax;
    this.#backlogBytes = backlogBytes;
    this.#emptied = emptied;
  }

  get someWait(): boolean {
    return this.#first < this.#waiting.length;
  }

  /** Starts the call now or as soon as may be. */
  admit(call: Admissible): void {
    if (!this.someWait && this.#mayStart(call)) {
      call.start();
      return;
    }
    // Those that were cancelled while they waited: of the others there are no more than streams.
    if (this.#waiting.length > 2 * this.#runningMax) {
      this.#waiting = this.#waiting.filter(({ finished }, at) => at >= this.#first && !finished);
      this.#first = 0;
    }
    this.#waiting.push(call);
  }

  /** A call that started did not end at once. `left` is to be called when its handler is through. */
  entered(requestBytes: number): void {
    this.#running += 1;
    this.#runningBytes += requestBytes;
  }

  left(requestBytes: number): void {
    this.#running -= 1;
    this.#runningBytes -= requestBytes;
    if (this.someWait) this.advance();
  }

  /** Lets in whom it may: also to be called when bytes have left. */
  advance(): void {
    if (this.#letting || !this.someWait) return;
    this.#letting = true; // a call that ends at once comes back here
    for (let call = this.#next; call !== undefined && this.#mayStart(call); call = this.#next) {
      this.#first += 1;
      if (!call.finished) call.start();
    }
    this.#letting = false;
    this.#forgetStarted();
    if (!this.someWait) this.#emptied();
  }

  get #next(): Admissible | undefined {
    return this.#waiting[this.#first];
  }

  /** Moves the others up only when they are fewer than the places that are free. */
  #forgetStarted(): void {
    if (2 * this.#first < this.#waiting.length) return;
    this.#waiting.splice(0, this.#first);
    this.#first = 0;
  }

  #mayStart(call: Admissible): boolean {
    return (
      this.#running < this.#runningMax &&
      this.#runningBytes < RUNNING_MAX_BYTES &&
      this.#backlogBytes() < SEND_QUEUE_MAX_BYTES &&
      !call.holdsBack(this.#advance)
    );
  }
}
