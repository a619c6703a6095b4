import { assert, type Seal, sameSeal } from '@engram/core';
import type { LogBatch } from './log.ts';
import { StorageFencedError } from './storage-error.ts';

/**
 * Whether `asked` takes the log over from `held`. False if `asked` already holds it. StorageFencedError if it may not.
 */
export function takesOver(held: Seal, asked: Seal, where: string): boolean {
  if (sameSeal(held, asked)) return false;
  if (asked.epoch > held.epoch) {
    assert(asked.holder !== 0n, 'a seal without a holder');
    return true;
  }
  throw new StorageFencedError(
    asked.epoch < held.epoch
      ? `epoch ${asked.epoch} is older than ${held.epoch}, which has sealed ${where}`
      : `epoch ${asked.epoch} of ${where} is held by ${holderText(held)}, not by ${holderText(asked)}`,
  );
}

/**
 * Whether a log that `held` holds refuses an append with `by`. A `by` of an epoch that has not sealed is an assertion.
 */
export function isFenced(held: Seal, by: Seal): boolean {
  assert(by.epoch <= held.epoch, 'an append of an epoch that has not sealed the log');
  return !sameSeal(held, by);
}

/** Whether both are the same batch, byte for byte. */
export function sameBatch(left: LogBatch, right: LogBatch): boolean {
  return (
    left.first === right.first &&
    left.records.length === right.records.length &&
    left.records.every((record, index) => Buffer.compare(record, right.records[index]!) === 0)
  );
}

function holderText({ holder }: Seal): string {
  return holder === 0n ? 'an unknown holder' : `member ${holder.toString(16)}`;
}
