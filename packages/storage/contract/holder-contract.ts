import { logPosition } from '@engram/core';
import { describe, expect, test } from 'vitest';
import { StorageClosedError } from '../index.ts';
import { appendAll, first, openSealed, records, reopen, type StorageBed } from './storage-bed.ts';
import { never, sealOf } from './storage-steps.ts';

const at = logPosition;

/** The part of `logContract` about `heldBy`. */
export function holderContract(makeBed: () => Promise<StorageBed>): void {
  describe('who holds it', () => {
    test('the last seal does, before and after appends', async () => {
      await using bed = await makeBed();
      const storage = await openSealed(bed);
      expect(await storage.log.heldBy(first, never)).toBe(true);
      await appendAll(storage, [records(2)]);
      expect(await storage.log.heldBy(first, never)).toBe(true);
    });

    test('an older seal does not, nor another holder’s of the same epoch', async () => {
      await using bed = await makeBed();
      const storage = await openSealed(bed);
      const later = sealOf(2, 9n);
      await storage.log.seal(later);
      expect(await storage.log.heldBy(first, never)).toBe(false);
      expect(await storage.log.heldBy(sealOf(2, 8n), never)).toBe(false);
      expect(await storage.log.heldBy(later, never)).toBe(true);
    });

    test('may be asked while an append and a seal are under way', async () => {
      await using bed = await makeBed();
      const storage = await openSealed(bed);
      const append = storage.log.append({ first: at(1), records: records(2) }, first);
      expect(await storage.log.heldBy(first, never)).toBe(true);
      expect(await append).toEqual({ kind: 'committed' });
      const seal = storage.log.seal(sealOf(2));
      await storage.log.heldBy(first, never);
      expect(await seal).toBe(3);
      expect(await storage.log.heldBy(sealOf(2), never)).toBe(true);
    });

    test('again after it was opened and sealed again', async () => {
      await using bed = await makeBed();
      const storage = await reopen(bed, await openSealed(bed));
      await storage.log.seal(first);
      expect(await storage.log.heldBy(first, never)).toBe(true);
    });

    test('ends with the reason of the signal', async () => {
      await using bed = await makeBed();
      const storage = await openSealed(bed);
      const reason = new Error('no longer wanted');
      await expect(storage.log.heldBy(first, AbortSignal.abort(reason))).rejects.toBe(reason);
    });

    test('is not told after disposal', async () => {
      await using bed = await makeBed();
      const storage = await openSealed(bed);
      await storage[Symbol.asyncDispose]();
      await expect(storage.log.heldBy(first, never)).rejects.toThrow(StorageClosedError);
    });
  });
}
