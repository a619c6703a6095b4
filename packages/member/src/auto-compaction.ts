import { type Clock, isEngramError, type Logger, type Timer } from '@engram/core';
import { nodeItself, type Store } from '@engram/backend';

/** What automatic compaction keeps. */
export type CompactionRetention =
  | { readonly mode: 'off' }
  | { readonly mode: 'periodic'; readonly periodMs: number }
  | { readonly mode: 'revision'; readonly revisions: number };

const HOUR_MS = 3_600_000;
const REVISION_INTERVAL_MS = 5 * 60_000;
/** Revisions are noted ten times in a period (etcd v3compactor/periodic.go). */
const NOTES = 10;

export interface AutoCompactionParts {
  readonly store: Pick<Store, 'revision' | 'compact'>;
  /** Of several members only the one that leads compacts; the others go on noting revisions. */
  readonly leads: () => boolean;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Compacts by itself, exactly as etcd's compactor does, until disposed. */
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
 * After one full period, and then every period or every hour, compacts to the oldest note, which is the first one that
 * is more than a period old.
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

/** Notes, waits, acts, and again: a compaction that takes long delays the next turn, it does not run beside it. */
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

/** Never rejects. Compacted already (by kube-apiserver, say) is as good as done. */
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
