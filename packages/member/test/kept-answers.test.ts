import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import * as peerpb from '../src/gen/peerpb.ts';
import { type Answering, KeptAnswers, WRITES_OF_A_LIFE } from '../src/kept-answers.ts';

const requestOf = (sequence: number, settled: number, member = 1n): peerpb.Request =>
  peerpb.decodeRequest(peerpb.encodeRequest({ member, sequence, settled }));

/** How often each write was done. */
class Work {
  readonly done = new Map<number, number>();
  readonly #kept = new KeptAnswers();

  ask(sequence: number, settled: number, member?: bigint): Answering | undefined {
    return this.#kept.once(requestOf(sequence, settled, member), async () => {
      this.done.set(sequence, (this.done.get(sequence) ?? 0) + 1);
      return peerpb.encodeAnswer({ revision: sequence });
    });
  }
}

describe('answers to the writes of other members', () => {
  test('a write that comes again is done once, and has the same answer', async () => {
    const work = new Work();
    const first = work.ask(7, 7);
    expect(work.ask(7, 7)).toBe(first);
    expect(peerpb.decodeAnswer((await first)!).revision).toBe(7);
    expect(work.done).toEqual(new Map([[7, 1]]));
  });

  test('writes come in any order, as those of an ended connection do', () => {
    const work = new Work();
    for (const sequence of [8, 6, 7, 200, 5]) expect(work.ask(sequence, 5)).toBeDefined();
    for (const sequence of [5, 6, 7, 8, 200]) expect(work.ask(sequence, 5)).toBeDefined();
    expect([...work.done.values()]).toEqual([1, 1, 1, 1, 1]);
  });

  test('a write that was settled is not done again when it arrives late', () => {
    const work = new Work();
    work.ask(7, 7);
    work.ask(8, 8);
    expect(work.ask(7, 7)).toBeUndefined();
    expect(work.done.get(7)).toBe(1);
  });

  test('members, and the lives of one, have numbers of their own', () => {
    const work = new Work();
    const life = 9 * WRITES_OF_A_LIFE;
    expect(work.ask(life + 5, life + 5)).toBeDefined();
    expect(work.ask(life + 3, life + 3, 2n)).toBeDefined();
    // The member has started again, with lower numbers than before.
    expect(work.ask(3, 3)).toBeDefined();
    expect(work.ask(life + 4, life + 4)).toBeUndefined();
    for (let more = 20; more < 40; more += 1) expect(work.ask(more * WRITES_OF_A_LIFE + 1, 1)).toBeUndefined();
    for (let more = 20; more < 40; more += 1) {
      const number = more * WRITES_OF_A_LIFE + 1;
      expect(work.ask(number, number)).toBeDefined();
    }
  });

  test('a number far beyond what can wait is no number of a member', () => {
    expect(new Work().ask(2 ** 30, 1)).toBeUndefined();
  });

  test('numbers far above those that are settled take bounded memory, in all lives of a member together', () => {
    const kept = new KeptAnswers();
    const asked: number[] = [];
    const ask = (sequence: number, settled: number): Answering | undefined =>
      kept.once(requestOf(sequence, settled), async () => {
        asked.push(sequence);
        return peerpb.encodeAnswer({});
      });
    for (let life = 1; life <= 30; life += 1) {
      const first = life * WRITES_OF_A_LIFE + 1;
      for (const distance of [1, 2 ** 18, 2 ** 20 - 1, 2 ** 20, 2 ** 22]) ask(first + distance, first);
    }
    expect(kept.slots).toBeLessThanOrEqual(2 ** 21 + 8 * 64);
    expect(asked).not.toContain(WRITES_OF_A_LIFE + 1 + 2 ** 20);
    // A life that begins is served, and settling its writes makes no more room necessary.
    const first = 31 * WRITES_OF_A_LIFE + 1;
    for (let sequence = first; sequence < first + 100_000; sequence += 1) expect(ask(sequence, sequence)).toBeDefined();
  });

  test('two lives of a member may have as many writes waiting as any', () => {
    const work = new Work();
    for (const life of [4, 5]) {
      const first = life * WRITES_OF_A_LIFE + 1;
      expect(work.ask(first + 2 ** 20 - 1, first)).toBeDefined();
    }
  });

  test('answers far above those that are settled are given once, and the write is done once', async () => {
    const work = new Work();
    const forgotten = peerpb.encodeAnswer({ error: 'Timeout' });
    const revisionOf = async (sequence: number): Promise<number> =>
      peerpb.decodeAnswer((await work.ask(sequence, 1))!).revision;
    expect(await revisionOf(2 ** 15)).toBe(2 ** 15);
    expect(await revisionOf(2 ** 15)).toBe(2 ** 15);
    expect(await revisionOf(2 ** 15 + 1)).toBe(2 ** 15 + 1);
    expect(await work.ask(2 ** 15 + 1, 1)).toEqual(forgotten);
    expect(work.done.get(2 ** 15 + 1)).toBe(1);
  });

  test('of a life that is over the answers are forgotten, and not that its writes were done', async () => {
    const work = new Work();
    const forgotten = peerpb.encodeAnswer({ error: 'Timeout' });
    await work.ask(7, 5);
    const begin = async (life: number): Promise<void> =>
      void (await work.ask(life * WRITES_OF_A_LIFE + 1, life * WRITES_OF_A_LIFE + 1));
    await begin(1);
    expect(peerpb.decodeAnswer((await work.ask(7, 5))!).revision, 'the other one may be over').toBe(7);
    await begin(2);
    expect(await work.ask(7, 5)).toEqual(forgotten);
    expect(peerpb.decodeAnswer((await work.ask(8, 5))!).revision).toBe(8);
    expect(await work.ask(8, 5)).toEqual(forgotten);
    expect([work.done.get(7), work.done.get(8)]).toEqual([1, 1]);
  });

  test('each write is done once, however often and late it is sent', () => {
    const sends = fc.array(fc.tuple(fc.nat(30), fc.boolean()), { maxLength: 200 });
    fc.assert(
      fc.property(sends, (order) => {
        const work = new Work();
        const waiting = new Set(Array.from({ length: 31 }, (_, at) => at + 1));
        for (const [at, answered] of order) {
          const sequence = at + 1;
          // `settled` of a request is as of its sending: here always the oldest possible value.
          const settled = Math.min(sequence, ...waiting);
          work.ask(sequence, settled);
          if (answered) waiting.delete(sequence);
        }
        for (const times of work.done.values()) expect(times).toBe(1);
      }),
    );
  });

  test('long answers are kept up to a bound, and those of settled writes make room', async () => {
    const kept = new KeptAnswers(10_000);
    const long = (sequence: number, settled: number): Promise<Uint8Array> =>
      kept.once(requestOf(sequence, settled), async () => new Uint8Array(4_000))!;
    const forgotten = peerpb.encodeAnswer({ error: 'Timeout' });
    for (const sequence of [1, 2, 3, 4]) expect(await long(sequence, 1)).toHaveLength(4_000);
    expect(kept.longBytes).toBe(8_000);
    expect(await long(2, 1)).toHaveLength(4_000);
    expect(await long(3, 1), 'it is done, and its answer is not known any more').toEqual(forgotten);
    expect(await long(5, 2)).toHaveLength(4_000);
    expect(await long(5, 2), 'there is room again').toHaveLength(4_000);
    expect(await long(4, 2)).toEqual(forgotten);
    for (let sequence = 6; sequence < 5_000; sequence += 1) await long(sequence, sequence);
    expect(kept.longBytes).toBeLessThanOrEqual(10_000);
  });
});
