import { Prng } from '@engram/sim';
import { type LoggedWrite, type ModelEvent, StoreHistory } from '@engram/sim/model';
import { describe, expect, test } from 'vitest';
import { LeaseJudge } from './lease-judge.ts';
import { RevokeJudge } from './revoke-judge.ts';

const ID = 7n;

/** An end of the lease at a position of the log, and the store's revision there. */
interface End {
  readonly at: number;
  readonly revision: number;
  /** True if the end deletes keys, so the revision is its own. */
  readonly keys?: boolean;
  /** True if the end came before the lease's TTL had passed. */
  readonly early?: boolean;
  readonly sentMs?: number;
}

/**
 * A revoke. Its end is at `from` or later. It was answered at `revision` when the log ended at `to`, or its outcome is
 * unknown.
 */
interface Revoke {
  readonly from: number;
  readonly to?: number;
  readonly revision?: number;
  readonly startMs?: number;
}

const TIME_MS = 1000;

function judged(ends: readonly End[], revokes: readonly Revoke[]): readonly (readonly number[])[] {
  const leases = new LeaseJudge(new StoreHistory());
  const judge = new RevokeJudge(leases);
  for (const { at, revision, keys = false, early = false, sentMs = TIME_MS } of ends) {
    leases.granted(ID, at, 1, early ? TIME_MS : 0);
    const events = keys ? [{} as ModelEvent] : [];
    const write: LoggedWrite = { position: at, next: at + 1, revision, mark: undefined, events };
    judge.ended(write, ID, at, sentMs);
  }
  const answers = revokes.map(({ from, to = Number.POSITIVE_INFINITY, revision, startMs = 0 }, index) => {
    const call = { what: `revoke ${index}`, from, startMs };
    if (revision !== undefined) return judge.answered(call, ID, revision, to).map(({ position }) => position);
    judge.unknown(call, ID);
    return [];
  });
  judge.settle();
  return answers;
}

describe('every answered revoke has an end of its own, and every early end a revoke of its own', () => {
  const keyed = { revision: 5, keys: true };
  test.each<{ why: string; ends: readonly End[]; revokes: readonly Revoke[]; may: readonly (readonly number[])[] }>([
    { why: 'an end in its time needs nobody', ends: [{ at: 3, revision: 1 }], revokes: [], may: [] },
    {
      why: 'of two ends without keys the answered one is the early one, though the other fits as well',
      ends: [
        { at: 3, revision: 1 },
        { at: 5, revision: 1, early: true },
      ],
      revokes: [{ from: 1, revision: 1 }],
      may: [[3, 5]],
    },
    {
      why: 'the revision of deleted keys says which it was',
      ends: [
        { at: 3, revision: 4, early: true },
        { at: 5, ...keyed, early: true },
      ],
      revokes: [
        { from: 1, revision: 5 },
        { from: 1, revision: 4 },
      ],
      may: [[3, 5], [3]],
    },
    {
      why: 'the first answer gives up its end to one that has no other',
      ends: [
        { at: 3, revision: 4 },
        { at: 5, revision: 6 },
      ],
      revokes: [
        { from: 1, revision: 7 },
        { from: 1, revision: 5 },
      ],
      may: [[3, 5], [3]],
    },
    {
      why: 'an early end is that of a client who was not answered, the answered one is another',
      ends: [
        { at: 3, revision: 4, early: true },
        { at: 5, ...keyed },
      ],
      revokes: [{ from: 1, revision: 5 }, { from: 2 }],
      may: [[3, 5], []],
    },
    {
      why: 'what an answer cannot be any more it is not, once others need it',
      ends: [
        { at: 3, revision: 4 },
        { at: 6, revision: 4 },
      ],
      revokes: [
        { from: 1, to: 4, revision: 4 },
        { from: 1, revision: 4 },
      ],
      may: [[3], [6]],
    },
  ])('$why', ({ ends, revokes, may }) => {
    expect(judged(ends, revokes)).toEqual(may);
  });

  const answer = 'answer';
  const lease = 'lease';
  test.each<{ why: string; ends: readonly End[]; revokes: readonly Revoke[]; kind: string }>([
    { why: 'no end at all', ends: [], revokes: [{ from: 1, revision: 1 }], kind: answer },
    {
      why: 'one end, and two answers',
      ends: [{ at: 3, revision: 1 }],
      revokes: [
        { from: 1, revision: 1 },
        { from: 1, revision: 1 },
      ],
      kind: answer,
    },
    {
      why: 'three answers that share two ends, each of which has two to choose from',
      ends: [
        { at: 3, revision: 1 },
        { at: 5, revision: 2 },
        { at: 7, revision: 9 },
      ],
      revokes: [
        { from: 1, revision: 2 },
        { from: 1, revision: 3 },
        { from: 1, revision: 4 },
      ],
      kind: answer,
    },
    {
      why: 'the end was there before the revoke was asked for',
      ends: [{ at: 3, revision: 1 }],
      revokes: [{ from: 4, revision: 1 }],
      kind: answer,
    },
    {
      why: 'the end had left for the log before the revoke was asked for',
      ends: [{ at: 3, revision: 1, sentMs: 9 }],
      revokes: [{ from: 1, revision: 1, startMs: 10 }],
      kind: answer,
    },
    {
      why: 'the end came when the answer was there already',
      ends: [{ at: 3, revision: 1 }],
      revokes: [{ from: 1, to: 3, revision: 1 }],
      kind: answer,
    },
    {
      why: 'keys were deleted at another revision',
      ends: [{ at: 3, revision: 4, keys: true }],
      revokes: [{ from: 1, revision: 5 }],
      kind: answer,
    },
    {
      why: 'an answer from before the end',
      ends: [{ at: 3, revision: 4 }],
      revokes: [{ from: 1, revision: 3 }],
      kind: answer,
    },
    {
      why: 'an early end that nobody asked for',
      ends: [{ at: 3, revision: 1, early: true }],
      revokes: [],
      kind: lease,
    },
    {
      why: 'two early ends, and one client who asked',
      ends: [
        { at: 3, revision: 1, early: true },
        { at: 5, revision: 1, early: true },
      ],
      revokes: [{ from: 1 }],
      kind: lease,
    },
    {
      why: 'two early ends: the one of an answer, and one that its client came too late for',
      ends: [
        { at: 3, revision: 1, early: true },
        { at: 5, revision: 1, early: true },
      ],
      revokes: [{ from: 1, revision: 1 }, { from: 6 }],
      kind: lease,
    },
  ])('found: $why', ({ ends, revokes, kind }) => {
    expect(() => judged(ends, revokes)).toThrow(expect.objectContaining({ kind }));
  });

  const seed = Number(process.env['SEED'] ?? Date.now() % 2 ** 31);
  test(`as all assignments tried one by one say (SEED=${seed})`, () => {
    let wrong = 0;
    for (let run = 0; run < 2000; run += 1) {
      const random = new Prng(seed).fork(`run ${run}`);
      const ends = Array.from(
        { length: random.between(0, 4) },
        (_, at): End => ({
          at: 2 * at + 2,
          revision: at + 1,
          keys: random.chance(0.3),
          early: random.chance(0.5),
        }),
      );
      const revokes = Array.from({ length: random.between(0, 4) }, (): Revoke => {
        const from = random.between(1, 9);
        if (random.chance(0.4)) return { from };
        return { from, to: random.between(from, 11), revision: random.between(1, 5) };
      });
      const expected = isPossible(ends, revokes);
      if (!expected) wrong += 1;
      let found = false;
      try {
        judged(ends, revokes);
      } catch {
        found = true;
      }
      expect(found, JSON.stringify({ run, ends, revokes })).toBe(!expected);
    }
    expect(wrong).toBeGreaterThan(100);
    expect(wrong).toBeLessThan(1900);
  });
});

/**
 * Whether each revoke can be given an end of its own or none, so that every answered revoke and every early end has a
 * partner.
 */
function isPossible(ends: readonly End[], revokes: readonly Revoke[], given: ReadonlySet<End> = new Set()): boolean {
  const [revoke, ...others] = revokes;
  if (revoke === undefined) return ends.every((end) => given.has(end) || end.early !== true);
  if (revoke.revision === undefined && isPossible(ends, others, given)) return true;
  return ends.some((end) => {
    const { from, to = Number.POSITIVE_INFINITY, revision = end.revision } = revoke;
    const fits = end.at >= from && end.at < to && (end.keys ? end.revision === revision : end.revision <= revision);
    return fits && !given.has(end) && isPossible(ends, others, new Set([...given, end]));
  });
}
