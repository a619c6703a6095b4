import { SequenceRing } from '@engram/core';
import type * as peerpb from './gen/peerpb.ts';

export type Answering = Promise<peerpb.AnswerInit>;

/** A member numbers its writes from a multiple of this on, chosen anew at each start. */
export const WRITES_OF_A_LIFE = 2 ** 32;
/** Lives of one member whose writes may still arrive. */
const LIVES_MAX = 8;
const ANSWERS_MIN = 64;
/** More than any member has waiting for answers: what goes further is no number of a member's. */
const UNSETTLED_MAX = 2 ** 22;

/** The writes of one life of a member. */
class Life {
  readonly answers = new SequenceRing<Answering>(ANSWERS_MIN);
  /** Nobody waits for a write before it. */
  settled = 0;
}

/**
 * What a leader has answered to the writes of other members, by their numbers, until the member says that it waits no more.
 */
export class KeptAnswers {
  readonly #members = new Map<bigint, Map<number, Life>>();

  /**
   * The answer to a write, which is begun by `perform` where this number is new. Undefined: nobody waits for it any more. It
   * comes from a connection that was given up, whose bytes may arrive long after the write was sent again over the next one,
   * done and answered: it would be done twice.
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
