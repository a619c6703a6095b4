import { Fifo, type Share } from '@engram/core';
import type { Loop, PureJob, Task } from '@engram/loop';
import { RUNNING_MAX_BYTES, SEND_QUEUE_MAX_BYTES } from './limits.ts';

/** A start, or a resumption, may take as long as a slice: the clock is read after each (`Turn`). */
const STEPS_EACH = 32;

/** A call whose request is complete. */
export interface Admissible {
  /** The call ended while it waited. */
  readonly finished: boolean;
  start(): void;
  /** It does not start at once: what it keeps is to be its own. */
  stays(): void;
}

/** A stream that has more to send. */
export interface Crowded {
  readonly queuedBytes: number;
  roomMade(): void;
}

/** Bytes of answers that the connection holds. */
export interface AnswersHeld {
  readonly heldBytes: number;
}

/** The connection whose calls are admitted. */
export interface AdmissionOwner {
  /** No call waits any more. */
  noneWait(): void;
  /** A call that had waited has thrown when it started: the connection must end. */
  fault(error: unknown): void;
}

/**
 * Starts the calls of one connection, in order. A cancelled call counts until its handler returns. So a client that
 * opens and resets streams in a row (CVE-2023-44487, CVE-2025-8671) gets no more running handlers than a client that
 * waits for its answers. No call starts while the client leaves too many answers unread, or while the connection holds
 * more than its share of the answer budget. A waiting call holds its stream, and the number of streams is bounded.
 * While a call waits, the client gets no new window to send in. Calls that waited start in slices of the loop.
 */
export class Admission {
  readonly #runningMax: number;
  readonly #answers: AnswersHeld;
  readonly #share: Share;
  readonly #loop: Loop;
  readonly #starts: Task;
  readonly #resumes: Task;
  readonly #owner: AdmissionOwner;
  #running = 0;
  #runningBytes = 0;
  #waiting = new Fifo<Admissible>();
  #letting = false;
  #ended = false;
  /** Streams that were told to wait, in the order in which they asked. */
  readonly #crowded = new Set<Crowded>();
  #resuming = false;

  /**
   * `share` is the connection's share of the answer budget; `caller` is whose part of the loop's time starts take.
   */
  constructor(
    runningMax: number,
    answers: AnswersHeld,
    share: Share,
    loop: Loop,
    caller: object,
    owner: AdmissionOwner,
  ) {
    this.#runningMax = runningMax;
    this.#answers = answers;
    this.#share = share;
    this.#loop = loop;
    this.#starts = { work: 'client', caller, stage: 'start' };
    this.#resumes = { work: 'client', caller, stage: 'resume' };
    this.#owner = owner;
  }

  /** Bytes of the requests of calls that run. */
  get runningBytes(): number {
    return this.#runningBytes;
  }

  get someWait(): boolean {
    return this.#waiting.length > 0;
  }

  /** Whether the connection may hold more bytes of answers. False is counted as a refusal. */
  get mayAnswer(): boolean {
    if (this.#share.mayGrow) return true;
    this.#share.refused();
    return false;
  }

  /** The connection ends: calls that wait never start. */
  end(): void {
    this.#ended = true;
    this.#waiting = new Fifo();
  }

  /** Starts the call now, and throws what it throws, or as soon as the limits allow. */
  admit(call: Admissible): void {
    if (this.#ended) return;
    if (!this.someWait && this.#mayStart()) {
      call.start();
      return;
    }
    if (!this.#share.mayGrow) this.#share.refused();
    // Removes calls that were cancelled while they waited. There are no more other calls than streams.
    if (this.#waiting.length > 2 * this.#runningMax) {
      for (const waiting of this.#waiting.takeAll()) if (!waiting.finished) this.#waiting.push(waiting);
    }
    call.stays();
    this.#waiting.push(call);
  }

  /** To be called when a started call did not end at once. `left` must be called when its handler returns. */
  entered(requestBytes: number): void {
    this.#running += 1;
    this.#runningBytes += requestBytes;
  }

  left(requestBytes: number): void {
    this.#running -= 1;
    this.#runningBytes -= requestBytes;
    if (this.someWait) this.advance();
  }

  /**
   * Starts the calls that the limits allow. To be called when bytes have left, and every few seconds, because other
   * connections release budget, too.
   */
  advance(): void {
    if (this.#crowded.size > 0 && !this.#resuming) {
      this.#resuming = true;
      void this.#loop.run(this.#resumes, this.#resume());
    }
    if (this.#letting || !this.someWait || !this.#mayStart()) return;
    this.#letting = true; // a call that ends at once calls `advance` again
    void this.#loop.run(this.#starts, this.#start());
  }

  /**
   * Whether a stream must wait before it sends more: if the connection is above its share, or if the stream has bytes
   * queued and the client leaves too much unread. A stream without queued bytes may always send its next message, so
   * that unread streams do not block the streams that the client reads.
   */
  isCrowded(stream: Crowded): boolean {
    return !this.#share.mayGrow || (stream.queuedBytes > 0 && this.#answers.heldBytes >= SEND_QUEUE_MAX_BYTES);
  }

  /** Calls the stream's `roomMade` once, when there may be room. */
  awaitRoom(stream: Crowded): void {
    if (this.#crowded.has(stream)) return;
    this.#crowded.add(stream);
    if (!this.#share.mayGrow) this.#share.refused();
  }

  leaveRoom(stream: Crowded): void {
    this.#crowded.delete(stream);
  }

  *#start(): PureJob<void> {
    while (this.someWait && this.#mayStart()) {
      const call = this.#waiting.shift()!;
      try {
        if (!call.finished) call.start();
      } catch (error) {
        this.end();
        this.#owner.fault(error);
      }
      if (this.#loop.shouldYield(STEPS_EACH) && this.someWait) yield;
    }
    this.#letting = false;
    if (!this.someWait && !this.#ended) this.#owner.noneWait();
  }

  /** A stream that waits again is resumed at the next call. */
  *#resume(): PureJob<void> {
    for (const stream of [...this.#crowded]) {
      // It may have left while others had their turn.
      if (!this.#crowded.has(stream) || this.isCrowded(stream)) continue;
      this.#crowded.delete(stream);
      stream.roomMade();
      if (this.#loop.shouldYield(STEPS_EACH)) yield;
    }
    this.#resuming = false;
  }

  #mayStart(): boolean {
    return (
      this.#running < this.#runningMax &&
      this.#runningBytes < RUNNING_MAX_BYTES &&
      this.#answers.heldBytes < SEND_QUEUE_MAX_BYTES &&
      this.#share.mayGrow
    );
  }
}
