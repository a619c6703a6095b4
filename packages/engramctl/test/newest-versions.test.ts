import fc from 'fast-check';
import { expect, test } from 'vitest';
import { NewestVersions } from '../src/inspect/newest-versions.ts';

test('the newest entry of each key is told from those before it, in any history', () => {
  const keys = fc.array(fc.uint8Array({ maxLength: 6 }), { maxLength: 400 });
  fc.assert(
    fc.property(keys, (history) => {
      const newest = new NewestVersions();
      const model = new Map<string, number>();
      for (const [at, key] of history.entries()) {
        expect(newest.note(key, at)).toBe(true);
        model.set(Buffer.from(key).toString('hex'), at);
      }
      expect(newest.size).toBe(model.size);
      for (const [at, key] of history.entries()) {
        expect(newest.isNewest(key, at)).toBe(model.get(Buffer.from(key).toString('hex')) === at);
      }
    }),
  );
});

test('it grows: of 50,000 keys, each changed twice, the second change is the newest', () => {
  const newest = new NewestVersions();
  const key = (at: number): Uint8Array => Buffer.from(`/registry/pods/ns-${at % 97}/pod-${at}`);
  const KEYS = 50_000;
  for (let at = 0; at < 2 * KEYS; at += 1) newest.note(key(at % KEYS), at);
  expect(newest.size).toBe(KEYS);
  let wrong = 0;
  for (let at = 0; at < 2 * KEYS; at += 1) if (newest.isNewest(key(at % KEYS), at) !== at >= KEYS) wrong += 1;
  expect(wrong).toBe(0);
  expect(newest.isNewest(Buffer.from('never seen'), 0)).toBe(false);
});
