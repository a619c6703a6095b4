import { SequenceRing } from '@engram/core';
import type * as peerpb from './gen/peerpb.ts';

export type Answering = Promise<peerpb.AnswerInit>;

/** A member numbers its writes from a multiple of this on. It chooses the multiple at each start. */
export const WRITES_OF_A_LIFE = 2 ** 32;
/** How many lives of one member are kept. A life is one run of its process; its writes may arrive after its end. */
const LIVES_MAX = 8;
const ANSWERS_MIN = 64;
/** More writes than any member has waiting for answers. A number further on cannot come from a member. */
const UNSETTLED_MAX = 2 ** 22;

/** The writes of one life of a member. */
class Life {
  readonly answers = new SequenceRing<Answering>(ANSWERS_MIN);
  /** The member does not wait for writes before this number. */
  settled = 0;
}

/** A leader's answers to the writes of other members, by number, until the member says that it no longer waits. */
export class KeptAnswers {
  readonly #members = new Map<bigint, Map<number, Life>>();

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
      answers.advance(settled);
    }
    if (sequence < life.settled || sequence - life.settled > UNSETTLED_MAX) return undefined;
    let answer = answers.get(sequence);
    if (answer === undefined) {
      answer = perform();
      answers.set(sequence, answer);
    }
    return answer;
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
