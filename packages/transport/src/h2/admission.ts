import type { Clock, Share } from '@engram/core';
import { RESUMED_PER_TURN, RUNNING_MAX_BYTES, SEND_QUEUE_MAX_BYTES } from './limits.ts';

/** A call whose request is complete. */
export interface Admissible {
  /** It ended while it waited. */
  readonly finished: boolean;
  /** True: not in this turn of the event loop. `again` is called in a later one. */
  holdsBack(again: () => void): boolean;
  start(): void;
}

/** A stream that would send more. */
export interface Crowded {
  readonly queuedBytes: number;
  roomMade(): void;
}

/** What the connection holds of answers. */
export interface AnswersHeld {
  readonly heldBytes: number;
}

/**
 * Lets calls of one connection start, in order. A call that was cancelled still counts until its handler is through:
 * whoever opens and resets streams in a row (CVE-2023-44487, CVE-2025-8671) gets no more handlers running than
 * whoever waits for his answers. Nor does a call start while the client leaves too many answers unread, or holds more of
 * what the process has for answers than its share. What has to wait holds its stream, and streams are bounded; while
 * something waits, the client gets no new window to send in.
 */
export class Admission {
  readonly #runningMax: number;
  readonly #answers: AnswersHeld;
  readonly #share: Share;
  readonly #clock: Clock;
  readonly #emptied: () => void;
  readonly #advance = (): void => this.advance();
  #running = 0;
  #runningBytes = 0;
  /** Those before `#first` have been let in. */
  #waiting: Admissible[] = [];
  #first = 0;
  #letting = false;
  /** Streams that were told to wait, in the order in which they asked. */
  readonly #crowded = new Set<Crowded>();
  #resuming = false;

  /** `share` is the connection's of what answers may hold; `emptied` is called when no call waits any more. */
  constructor(runningMax: number, answers: AnswersHeld, share: Share, clock: Clock, emptied: () => void) {
    this.#runningMax = runningMax;
    this.#answers = answers;
    this.#share = share;
    this.#clock = clock;
    this.#emptied = emptied;
  }

  /** Bytes of the requests of calls that run. */
  get runningBytes(): number {
    return this.#runningBytes;
  }

  get someWait(): boolean {
    return this.#first < this.#waiting.length;
  }

  /** Whether the connection may hold more of answers. False is counted as a refusal. */
  get mayAnswer(): boolean {
    if (this.#share.mayGrow) return true;
    this.#share.refused();
    return false;
  }

  /** Starts the call now or as soon as may be. */
  admit(call: Admissible): void {
    if (!this.someWait && this.#mayStart(call)) {
      call.start();
      return;
    }
    if (!this.#share.mayGrow) this.#share.refused();
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

  /** Lets in whom it may: also to be called when bytes have left, and every few seconds, since others make room, too. */
  advance(): void {
    if (this.#crowded.size > 0) this.#resume();
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

  /**
   * Whether a stream has to wait before it sends more: where the connection is above its share; or, if it has something
   * queued already, where the client leaves too much unread. One without may always send what it has next, so that
   * streams that are not read do not silence those that are.
   */
  isCrowded(stream: Crowded): boolean {
    return !this.#share.mayGrow || (stream.queuedBytes > 0 && this.#answers.heldBytes >= SEND_QUEUE_MAX_BYTES);
  }

  /** Calls its `roomMade`, once, when there may be room. */
  awaitRoom(stream: Crowded): void {
    if (this.#crowded.has(stream)) return;
    this.#crowded.add(stream);
    if (!this.#share.mayGrow) this.#share.refused();
  }

  leaveRoom(stream: Crowded): void {
    this.#crowded.delete(stream);
  }

  readonly #resumeMore = (): void => {
    this.#resuming = false;
    this.#resume();
  };

  /** A few in a turn; those that ask again wait for the next time. */
  #resume(): void {
    if (this.#resuming) return;
    let told = 0;
    for (const stream of [...this.#crowded]) {
      if (told === RESUMED_PER_TURN) {
        this.#resuming = true;
        this.#clock.soon(this.#resumeMore);
        return;
      }
      if (this.isCrowded(stream)) continue;
      this.#crowded.delete(stream);
      told += 1;
      stream.roomMade();
    }
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
      this.#answers.heldBytes < SEND_QUEUE_MAX_BYTES &&
      this.#share.mayGrow &&
      !call.holdsBack(this.#advance)
    );
  }
}
