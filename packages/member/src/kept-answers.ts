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
const UNSETTLED_MAX = 2 ** 22;

/** Bound on the bytes of all answers that are longer than `SHORT_BYTES`. */
const LONG_BYTES_MAX = 32 * 1024 * 1024;
const SHORT_BYTES = 1024;
/** In place of an answer that is no longer kept. The write is done; a member that asks again does not learn its answer. */
const FORGOTTEN: Answering = Promise.resolve(peerpb.encodeAnswer({ error: 'Timeout' }));

/** The writes of one life of a member. */
class Life {
  readonly answers = new SequenceRing<Answering>(ANSWERS_MIN);
  /** By number, the bytes of long answers. Those of settled writes are removed when their room is needed. */
  readonly long = new Map<number, number>();
  /** The member does not wait for writes before this number. */
  settled = 0;
}

/** A leader's answers to the writes of other members, by number, until the member says that it no longer waits. */
export class KeptAnswers {
  readonly #members = new Map<bigint, Map<number, Life>>();
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

  /**
   * The answer to a write. If its number is new, `perform` begins the write. Undefined if the member no longer waits for it.
   * Such a request comes from a connection that was given up. Its bytes may arrive long after the member has sent the write
   * again over the next connection and got the answer. To perform it then would do it twice.
   */
  once({ member, sequence, settled }: peerpb.Request, perform: () => Answering): Answering | undefined {
    const life = this.#lifeOf(member, Math.floor(sequence / WRITES_OF_A_LIFE));
    const { answers } = life;
    if (settled > life.settled) {
      life.settled = settled;
      this.#full = false;
      answers.advance(settled);
    }
    if (sequence < life.settled || sequence - life.settled > UNSETTLED_MAX) return undefined;
    let answer = answers.get(sequence);
    if (answer === undefined) {
      answer = perform();
      answers.set(sequence, answer);
      void answer.then((bytes) => this.#bound(life, sequence, bytes.length));
    }
    return answer;
  }

  /** Forgets an answer that finds no room: whoever waits for it gets it, and who asks again does not. */
  #bound(life: Life, sequence: number, bytes: number): void {
    if (bytes <= SHORT_BYTES || sequence < life.settled) return;
    if (this.#longBytes + bytes > this.#longBytesMax && !this.#full) this.#sweep();
    if (this.#longBytes + bytes > this.#longBytesMax) {
      this.#full = true;
      life.answers.set(sequence, FORGOTTEN);
      return;
    }
    this.#longBytes += bytes;
    life.long.set(sequence, bytes);
  }

  /** Counts the answers anew. Those of settled writes are no longer held. */
  #sweep(): void {
    this.#longBytes = 0;
    for (const lives of this.#members.values()) {
      for (const { long, settled } of lives.values()) {
        for (const [sequence, bytes] of long) {
          if (sequence < settled) long.delete(sequence);
          else this.#longBytes += bytes;
        }
      }
    }
  }

  #lifeOf(member: bigint, number: number): Life {
    let lives = this.#members.get(member);
    if (lives === undefined) {
      lives = new Map();
      this.#members.set(member, lives);
    }
    let life = lives.get(number);
    if (life === undefined) {
      life = new Life();
      lives.set(number, life);
      const [oldest] = lives.keys();
      if (lives.size > LIVES_MAX && oldest !== undefined) lives.delete(oldest);
    }
    return life;
  }
}
