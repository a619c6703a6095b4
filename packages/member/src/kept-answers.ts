import { SequenceRing } from '@engram/core';
import * as peerpb from './gen/peerpb.ts';

/** An encoded answer. */
export type Answering = Promise<Uint8Array>;

/** A member numbers its writes from a multiple of this on. It chooses the multiple at each start. */
export const WRITES_OF_A_LIFE = 2 ** 32;
/** How many lives of one member are kept. A life is one run of its process; its writes may arrive after its end. */
const LIVES_MAX = 8;
const ANSWERS_MIN = 64;
/** More writes than any member has waiting for answers. A number further on cannot come from a member. */
const UNSETTLED_MAX = 2 ** 20;
/**
 * Bound on the slots of a member's lives together, of 8 bytes each. A life has a slot for each number from the first that is
 * not settled to the last that was asked, so this many are two lives with the most of writes.
 */
const SLOTS_MAX = 2 * UNSETTLED_MAX;
/** A life's answers to this many numbers are kept, from the first that is not settled on. Those to later ones are given once. */
const KEPT_MAX = 2 ** 15;

/** Bound on the bytes of all answers that are longer than `SHORT_BYTES`. */
const LONG_BYTES_MAX = 32 * 1024 * 1024;
const SHORT_BYTES = 256;
/** In place of an answer that is no longer kept. The write is done; a member that asks again does not learn its answer. */
const FORGOTTEN: Answering = Promise.resolve(peerpb.encodeAnswer({ error: 'Timeout' }));

/** The writes of one life of a member. */
class Life {
  readonly answers = new SequenceRing<Answering>(ANSWERS_MIN);
  /** By number, the bytes of long answers. Those of settled writes are removed when their room is needed. */
  readonly long = new Map<number, number>();
  /** The member does not wait for writes before this number. */
  settled = 0;
  /** Nobody waits for an answer. That its writes were done is still known. */
  over = false;

  /** Forgets the answers, and that alone. */
  end(): void {
    const { answers } = this;
    this.over = true;
    const next = Math.min(answers.next, answers.first + KEPT_MAX);
    for (let at = answers.first; at < next; at += 1) if (answers.get(at) !== undefined) answers.set(at, FORGOTTEN);
  }
}

/** The lives of one member, in the order in which they were heard of. */
class Lives {
  readonly byNumber = new Map<number, Life>();
  /** The two that were heard of last: a write of the life before may arrive late, after those of the one that runs. */
  #running: readonly (Life | undefined)[] = [];

  /** The slots of all of them. */
  get slots(): number {
    let slots = 0;
    for (const { answers } of this.byNumber.values()) slots += answers.capacity;
    return slots;
  }

  of(number: number): Life {
    const known = this.byNumber.get(number);
    if (known !== undefined) return known;
    const life = new Life();
    const [last, before] = this.#running;
    this.#running = [life, last];
    before?.end();
    this.byNumber.set(number, life);
    const [oldest] = this.byNumber.keys();
    if (this.byNumber.size > LIVES_MAX && oldest !== undefined) this.byNumber.delete(oldest);
    return life;
  }

  /** Whether the life may have a slot for this number. */
  mayHold({ answers }: Life, number: number): boolean {
    const growth = answers.capacityFor(number) - answers.capacity;
    return growth === 0 || this.slots + growth <= SLOTS_MAX;
  }
}

/**
 * A leader's answers to the writes of other members, by number, until the member says that it no longer waits. A member that
 * lies about its numbers makes the leader hold `SLOTS_MAX` slots, twice `KEPT_MAX` short answers and `LONG_BYTES_MAX` of long ones.
 */
export class KeptAnswers {
  readonly #members = new Map<bigint, Lives>();
  readonly #longBytesMax: number;
  #longBytes = 0;
  /** Nothing was settled since `#sweep` has found no room. */
  #full = false;

  constructor(longBytesMax = LONG_BYTES_MAX) {
    this.#longBytesMax = longBytesMax;
  }

  /** Bytes of the long answers that are kept. Those of settled writes may be among them. */
  get longBytes(): number {
    return this.#longBytes;
  }

  /** Slots for answers, of 8 bytes each. */
  get slots(): number {
    let slots = 0;
    for (const lives of this.#members.values()) slots += lives.slots;
    return slots;
  }

  /**
   * The answer to a write. If its number is new, `perform` begins the write. Undefined if the member no longer waits for it.
   * Such a request comes from a connection that was given up. Its bytes may arrive long after the member has sent the write
   * again over the next connection and got the answer. To perform it then would do it twice. Undefined as well for a number
   * that no member has, being too far above those that are settled.
   */
  once({ member, sequence, settled }: peerpb.Request, perform: () => Answering): Answering | undefined {
    const lives = this.#livesOf(member);
    const life = lives.of(Math.floor(sequence / WRITES_OF_A_LIFE));
    const { answers } = life;
    if (settled > life.settled) {
      life.settled = settled;
      this.#full = false;
      answers.advance(settled);
    }
    if (sequence < life.settled || sequence - life.settled >= UNSETTLED_MAX) return undefined;
    let answer = answers.get(sequence);
    if (answer === undefined) {
      if (!lives.mayHold(life, sequence)) return undefined;
      answer = perform();
      answers.set(sequence, answer);
      void answer.then((bytes) => this.#bound(life, sequence, bytes.length));
    }
    return answer;
  }

  /** Forgets an answer that finds no room: whoever waits for it gets it, and who asks again does not. */
  #bound(life: Life, sequence: number, bytes: number): void {
    if (sequence < life.settled) return;
    if (life.over || sequence - life.settled >= KEPT_MAX) {
      life.answers.set(sequence, FORGOTTEN);
      return;
    }
    if (bytes <= SHORT_BYTES) return;
    if (this.#longBytes + bytes > this.#longBytesMax && !this.#full) this.#sweep();
    if (this.#longBytes + bytes > this.#longBytesMax) {
      this.#full = true;
      life.answers.set(sequence, FORGOTTEN);
      return;
    }
    this.#longBytes += bytes;
    life.long.set(sequence, bytes);
  }

  /** Counts the answers anew. Those of settled writes, and of lives that are over, are no longer held. */
  #sweep(): void {
    this.#longBytes = 0;
    for (const { byNumber } of this.#members.values()) {
      for (const { long, settled, over } of byNumber.values()) {
        for (const [sequence, bytes] of long) {
          if (over || sequence < settled) long.delete(sequence);
          else this.#longBytes += bytes;
        }
      }
    }
  }

  #livesOf(member: bigint): Lives {
    let lives = this.#members.get(member);
    if (lives === undefined) {
      lives = new Lives();
      this.#members.set(member, lives);
    }
    return lives;
  }
}
