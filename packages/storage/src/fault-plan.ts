import type { Random, Seal } from '@engram/core';
import type { LogBatch } from './log.ts';

export type StorageOperation =
  | 'append'
  | 'read'
  | 'seal'
  | 'held-by'
  | 'get-many'
  | 'drop'
  | 'save-checkpoint'
  | 'load-checkpoint';

export type AppendFault =
  | 'none'
  /** No answer, but the batch is durable. */
  | 'uncertain-there'
  /** No answer, and the batch is not there and never will be. */
  | 'uncertain-lost'
  /** No answer, and the batch is still on its way: it arrives before the next append, unless a newer seal comes first. */
  | 'uncertain-late'
  /** As 'uncertain-there' and 'uncertain-lost', but only opening the storage again shows which of the two happened. */
  | 'failed-there'
  | 'failed-lost'
  /** Another node has sealed the log in the meantime. */
  | 'fenced';

/** What a MemoryStorage does where a real storage may be slow or fail. Omitted faults never happen. */
export interface FaultPlan {
  /**
   * The operation takes effect when the promise resolves. If the promise rejects, the operation rejects with its
   * reason.
   */
  gate?(operation: StorageOperation): Promise<void> | undefined;
  /** `peek` finds nothing, as on a disk whose pages are not in memory. */
  readonly cold?: boolean;
  append?(batch: LogBatch, seal: Seal): AppendFault;
  /**
   * The error to reject with, or undefined to continue. Called for each batch of a read, for each chunk of a checkpoint
   * that is saved, and once for each call of the other operations.
   */
  fail?(operation: 'read' | 'get-many' | 'load-checkpoint' | 'save-checkpoint'): Error | undefined;
}

/** Probabilities from 0 to 1. Omitted faults never happen. */
export interface FaultChances {
  readonly uncertainThere?: number;
  readonly uncertainLost?: number;
  readonly uncertainLate?: number;
  readonly failedThere?: number;
  readonly failedLost?: number;
  readonly fenced?: number;
  /** For each call of `fail`. */
  readonly failed?: number;
}

export class InjectedFault extends Error {
  override readonly name = 'InjectedFault';
}

/** A plan that makes the same choices for the same seed and the same order of calls. */
export function seededFaults(random: Random, chances: FaultChances): FaultPlan {
  const share = (): number => random.uint32() / 2 ** 32;
  const appends: readonly (readonly [AppendFault, number])[] = [
    ['uncertain-there', chances.uncertainThere ?? 0],
    ['uncertain-lost', chances.uncertainLost ?? 0],
    ['uncertain-late', chances.uncertainLate ?? 0],
    ['failed-there', chances.failedThere ?? 0],
    ['failed-lost', chances.failedLost ?? 0],
    ['fenced', chances.fenced ?? 0],
  ];
  return {
    append() {
      let left = share();
      for (const [fault, chance] of appends) {
        if (left < chance) return fault;
        left -= chance;
      }
      return 'none';
    },
    fail(operation) {
      return share() < (chances.failed ?? 0) ? new InjectedFault(`injected: ${operation} fails`) : undefined;
    },
  };
}
