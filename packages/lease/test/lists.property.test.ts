import { keyBytes, keyText, type LeaseId, leaseId } from '@engram/core';
import { finish, type PureJob, StepPace, unhurried } from '@engram/loop';
import { Lessor } from '@engram/lease';
import { Prng } from '@engram/sim';
import fc from 'fast-check';
import { expect, test } from 'vitest';

/* Lists that are made in slices, while leases and keys come and go, are those of the moment at which they began. */

const ids = Array.from({ length: 12 }, (_, at) => leaseId(BigInt(at + 1)));
const keys = Array.from({ length: 12 }, (_, at) => keyBytes(`k${at}`));

/** Makes the list one item at a time, and does `between` after each. */
function stepwise<Result>(work: PureJob<Result>, between: () => void): Result {
  for (let step = work.next(); ; step = work.next()) {
    if (step.done === true) return step.value;
    between();
  }
}

const idsOf = (leases: readonly { readonly id: LeaseId }[]): readonly LeaseId[] =>
  leases.map(({ id }) => id).sort((left, right) => Number(left - right));

test('the leases of a list, and their TTLs, are those of its first step', () => {
  fc.assert(
    fc.property(fc.integer(), fc.boolean(), (seed, byRemaining) => {
      const prng = new Prng(seed);
      const lessor = new Lessor({ minTtlSeconds: 1 });
      const change = (): void => {
        const id = prng.pick(ids);
        if (lessor.has(id)) lessor.revoke(id);
        else lessor.grant(id, 1 + prng.below(100), 0);
      };
      for (let times = 0; times < 20; times += 1) change();
      const before = ids.flatMap((id) => lessor.get(id) ?? []);
      const turn = new StepPace(0);
      const list = stepwise(byRemaining ? lessor.listByRemaining(turn) : lessor.list(turn), () => {
        for (let times = prng.below(4); times > 0; times -= 1) change();
      });
      expect(idsOf(list)).toEqual(idsOf(before));
      for (const { id, ttlSeconds } of before) {
        expect(list.find((lease) => lease.id === id)?.grantedTtlSeconds).toBe(ttlSeconds);
      }
    }),
    { numRuns: 300 },
  );
});

test('the keys of a lease are those of the first step, in byte order, each once', () => {
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      const prng = new Prng(seed);
      const lessor = new Lessor({ minTtlSeconds: 1 });
      const lease = lessor.grant(ids[0]!, 10, 0).id;
      const change = (): void => {
        if (prng.chance(0.05) && lessor.has(lease)) lessor.revoke(lease);
        if (!lessor.has(lease)) return;
        if (prng.chance(0.5)) lessor.attach(lease, prng.pick(keys));
        else lessor.detach(lease, prng.pick(keys));
        const { count, bytes } = lessor.keySizes(lease);
        expect({ count, bytes }).toEqual({
          count: lessor.keys(lease).length,
          bytes: lessor.keys(lease).reduce((sum, { length }) => sum + length, 0),
        });
      };
      for (let times = 0; times < 30; times += 1) change();
      const before = lessor.keys(lease).map(keyText);
      const list = stepwise(lessor.listKeys(lease, new StepPace(0)), () => {
        for (let times = prng.below(4); times > 0; times -= 1) change();
      });
      expect(list).toEqual(before);
    }),
    { numRuns: 300 },
  );
});

test('a list that is given up is forgotten', () => {
  const lessor = new Lessor({ minTtlSeconds: 1 });
  for (const id of ids) lessor.grant(id, 10, 0);
  const list = lessor.list(new StepPace(0));
  list.next();
  list.return([]);
  lessor.revoke(ids[5]!);
  expect(finish(lessor.list(unhurried))).toHaveLength(ids.length - 1);
});
