import fc from 'fast-check';
import { expect, test } from 'vitest';
import { keyText, type LeaseId, leaseId, utf8 } from '@engram/core';
import { finish, unhurried } from '@engram/loop';
import { Lessor } from '@engram/lease';

/** A plain model of `Lessor`: arrays that are scanned. */
class Model {
  leases: { id: LeaseId; ttl: number; rest: number; dueMs: number; ended: boolean; out: boolean; keys: string[] }[] =
    [];
  find = (id: LeaseId) => this.leases.find((lease) => lease.id === id);

  grant(id: LeaseId, ttl: number, nowMs: number): void {
    const granted = Math.max(ttl, 2);
    const dueMs = nowMs + granted * 1000;
    this.leases.push({ id, ttl: granted, rest: 0, dueMs, ended: false, out: false, keys: [] });
  }

  renew(id: LeaseId, nowMs: number): number | undefined {
    const lease = this.find(id);
    if (lease === undefined || lease.ended || lease.dueMs <= nowMs) return undefined;
    lease.rest = 0;
    if (nowMs + lease.ttl * 1000 > lease.dueMs) lease.dueMs = nowMs + lease.ttl * 1000;
    return lease.ttl;
  }

  due(nowMs: number): LeaseId[] {
    return this.leases.filter((lease) => !lease.out && lease.dueMs <= nowMs).map(({ id }) => id);
  }

  next(): number | undefined {
    const times = this.leases.filter((lease) => !lease.out).map(({ dueMs }) => dueMs);
    return times.length === 0 ? undefined : Math.min(...times);
  }
}

const id = fc.bigInt({ min: 1n, max: 8n }).map(leaseId);
const key = fc.constantFrom('a', 'b', 'c', 'aa');
const step = fc.oneof(
  fc.record({ kind: fc.constant('grant' as const), id, ttl: fc.integer({ min: -1, max: 9 }) }),
  fc.record({ kind: fc.constant('renew' as const), id }),
  fc.record({ kind: fc.constant('renew' as const), id }),
  fc.record({ kind: fc.constant('revoke' as const), id }),
  fc.record({ kind: fc.constant('attach' as const), id, key }),
  fc.record({ kind: fc.constant('detach' as const), id, key }),
  fc.record({ kind: fc.constant('expired' as const), max: fc.integer({ min: 0, max: 4 }) }),
  fc.record({ kind: fc.constant('handBack' as const), id, afterMs: fc.nat(3000) }),
  fc.record({ kind: fc.constant('checkpoint' as const), id, seconds: fc.nat(9) }),
  fc.record({ kind: fc.constant('extendAll' as const), extraMs: fc.nat(1000) }),
  fc.record({ kind: fc.constant('wait' as const), ms: fc.nat(4000) }),
);

test('any sequence does what an array that is scanned does', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120, size: 'max' }), (steps) => {
      const lessor = new Lessor({ minTtlSeconds: 2 });
      const model = new Model();
      let nowMs = 0;
      for (const step of steps) {
        switch (step.kind) {
          case 'grant':
            expect(lessor.has(step.id)).toBe(model.find(step.id) !== undefined);
            if (lessor.has(step.id)) break;
            lessor.grant(step.id, step.ttl, nowMs);
            model.grant(step.id, step.ttl, nowMs);
            break;
          case 'renew':
            expect(lessor.renew(step.id, nowMs)).toBe(model.renew(step.id, nowMs));
            break;
          case 'revoke': {
            const lease = model.find(step.id);
            if (lease === undefined) break;
            expect(lessor.keys(step.id).map(keyText)).toEqual(lease.keys.sort());
            lessor.revoke(step.id);
            model.leases.splice(model.leases.indexOf(lease), 1);
            break;
          }
          case 'attach': {
            const lease = model.find(step.id);
            if (lease === undefined) break;
            lessor.attach(step.id, utf8(step.key));
            if (!lease.keys.includes(step.key)) lease.keys.push(step.key);
            break;
          }
          case 'detach': {
            const lease = model.find(step.id);
            lessor.detach(step.id, utf8(step.key));
            if (lease !== undefined) lease.keys = lease.keys.filter((held) => held !== step.key);
            break;
          }
          case 'expired': {
            const due = model.due(nowMs);
            const ids = lessor.expired(nowMs, step.max);
            expect(ids.length).toBe(Math.min(due.length, step.max));
            for (const id of ids) {
              expect(due).toContain(id);
              const lease = model.find(id)!;
              // No lease that was not handed out is due earlier.
              for (const left of due) {
                if (!ids.includes(left)) expect(model.find(left)!.dueMs).toBeGreaterThanOrEqual(lease.dueMs);
              }
              lease.ended = true;
              lease.out = true;
            }
            break;
          }
          case 'handBack': {
            const lease = model.find(step.id);
            lessor.handBack(step.id, nowMs + step.afterMs);
            if (lease?.out === true) Object.assign(lease, { out: false, dueMs: nowMs + step.afterMs });
            break;
          }
          case 'checkpoint': {
            const lease = model.find(step.id);
            lessor.checkpoint(step.id, step.seconds);
            if (lease !== undefined) lease.rest = Math.min(step.seconds, lease.ttl);
            break;
          }
          case 'extendAll':
            lessor.extendAll(nowMs, step.extraMs);
            for (const lease of model.leases) {
              lease.dueMs = nowMs + (lease.rest > 0 ? lease.rest : lease.ttl) * 1000 + step.extraMs;
              lease.ended = lease.out = false;
            }
            break;
          case 'wait':
            nowMs += step.ms;
        }
        expect(lessor.size).toBe(model.leases.length);
        expect(lessor.nextDeadlineMs()).toBe(model.next());
        for (const lease of model.leases) {
          expect(lessor.get(lease.id)).toEqual({
            id: lease.id,
            ttlSeconds: lease.ttl,
            checkpointSeconds: lease.rest,
            keyCount: lease.keys.length,
          });
          expect(lessor.remainingMs(lease.id, nowMs)).toBe(lease.ended ? 0 : Math.max(0, lease.dueMs - nowMs));
        }
        const listed = finish(lessor.listByRemaining(unhurried));
        const remaining = listed.map(({ id }) => lessor.remainingMs(id, nowMs)!);
        expect(remaining).toEqual([...remaining].sort((left, right) => left - right));
      }
    }),
    { numRuns: 300 },
  );
});
