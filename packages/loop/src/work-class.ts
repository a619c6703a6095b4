/**
 * The classes of work, most urgent first:
 * - consensus: Raft, heartbeats of members, proofs of leadership;
 * - durable: appends, batches that take effect, answers to writes that are durable;
 * - client: decisions, reads and leases that clients wait for;
 * - catch-up: watches of the past, members that are behind;
 * - background: compaction, checkpoints, images, hashes.
 */
export const WORK_CLASSES = ['consensus', 'durable', 'client', 'catch-up', 'background'] as const;
export type WorkClass = (typeof WORK_CLASSES)[number];

/**
 * The shares of the classes while all of them wait. Within a round the more urgent class goes first. A class that waits has
 * its share of each round, so none can starve.
 */
export const CLASS_WEIGHTS: Readonly<Record<WorkClass, number>> = {
  consensus: 16,
  durable: 8,
  client: 4,
  'catch-up': 2,
  background: 1,
};

/** What a job is for. */
export interface Task {
  readonly work: WorkClass;
  /** Jobs of different callers in a class get equal time: a connection, or the name of a part of the node. */
  readonly caller: object | string;
  /** The kind of work, as metrics and logs name it. One of few. */
  readonly stage: string;
  /** The path of the call that the work is for, if there is one. */
  readonly method?: string | undefined;
}
