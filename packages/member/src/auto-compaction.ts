import { type Clock, isEngramError, type Logger, type Timer } from '@engram/core';
import { nodeItself, type Store } from '@engram/backend';

/** What automatic compaction keeps. */
export type CompactionRetention =
  | { readonly mode: 'off' }
  | { readonly mode: 'periodic'; readonly periodMs: number }
  | { readonly mode: 'revision'; readonly revisions: number };

const HOUR_MS = 3_600_000;
const REVISION_INTERVAL_MS = 5 * 60_000;
/** Revisions are noted ten times in a period, or in an hour if the period is longer (etcd v3compactor/periodic.go). */
const NOTES = 10;

export interface AutoCompactionParts {
  readonly store: Pick<Store, 'revision' | 'compact'>;
  /** Whether this member leads. Only the leader compacts; the other members keep noting revisions. */
  readonly leads: () => boolean;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Compacts automatically, exactly as etcd's compactor does, until disposed. */
export function startAutoCompaction(retention: CompactionRetention, parts: AutoCompactionParts): Disposable {
  switch (retention.mode) {
    case 'off':
      return { [Symbol.dispose]: () => {} };
    case 'periodic':
      return startPeriodic(retention.periodMs, parts);
    case 'revision':
      return startByRevision(retention.revisions, parts);
  }
}

/**
 * Compacts to the oldest noted revision, which is at least a period old. The first compaction comes after a full period,
 * each later one after a period or an hour, whichever is shorter.
 */
function startPeriodic(periodMs: number, { store, leads, clock, logger }: AutoCompactionParts): Disposable {
  const intervalMs = Math.min(periodMs, HOUR_MS);
  const noteMs = intervalMs / NOTES;
  const notesMax = Math.floor(periodMs / noteMs) + 1;
  const notes: number[] = [];
  let last = 0;
  let doneMs = clock.nowMs();
  let waitMs = periodMs;

  const note = (): void => {
    notes.push(store.revision);
    if (notes.length > notesMax) notes.shift();
  };
  const act = async (): Promise<void> => {
    const revision = notes[0]!;
    if (!leads() || clock.nowMs() - doneMs < waitMs || revision === last) return;
    waitMs = intervalMs;
    if (await compact(store, revision, logger, 'periodic')) {
      last = revision;
      doneMs = clock.nowMs();
    }
  };
  return alternate(clock, noteMs, note, act);
}

function startByRevision(keep: number, { store, leads, clock, logger }: AutoCompactionParts): Disposable {
  let last = 0;
  const act = async (): Promise<void> => {
    const revision = store.revision - keep;
    if (!leads() || revision <= 0 || revision === last) return;
    if (await compact(store, revision, logger, 'revision')) last = revision;
  };
  return alternate(clock, REVISION_INTERVAL_MS, () => {}, act);
}

/** Repeats: note, wait, act. A compaction that takes long delays the next turn; turns never overlap. */
function alternate(clock: Clock, intervalMs: number, note: () => void, act: () => Promise<void>): Disposable {
  let timer: Timer | undefined;
  let stopped = false;
  const next = (): void => {
    if (stopped) return;
    note();
    timer = clock.after(intervalMs, () => void act().then(next));
  };
  next();
  return {
    [Symbol.dispose]: () => {
      stopped = true;
      timer?.cancel();
    },
  };
}

/** Never rejects. True also if the revision was compacted already, for example by kube-apiserver. */
async function compact(
  store: Pick<Store, 'compact'>,
  revision: number,
  logger: Logger,
  mode: string,
): Promise<boolean> {
  try {
    await store.compact(revision, false, nodeItself);
    logger.info({ revision, mode }, `completed auto ${mode} compaction`);
    return true;
  } catch (error) {
    if (isEngramError(error) && error.code === 'Compacted') return true;
    logger.warn({ revision, mode, error }, `failed auto ${mode} compaction`);
    return false;
  }
}
