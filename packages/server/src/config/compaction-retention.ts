import { parseGoDuration } from '@engram/core';
import type { CompactionRetention } from '@engram/member';
import { ConfigError } from '../flags/flag-values.ts';

const NANOSECONDS_PER_MS = 1e6;

/**
 * Parses the retention. An integer is hours or revisions, depending on the mode (embed/etcd.go
 * parseCompactionRetention). In mode "revision" a duration is as many revisions as it has nanoseconds, as in etcd.
 */
export function parseCompactionRetention(mode: string, text: string): CompactionRetention {
  if (mode !== 'periodic' && mode !== 'revision') {
    throw new ConfigError(
      mode === '' ? 'undefined auto-compaction-mode' : `unknown auto-compaction-mode ${JSON.stringify(mode)}`,
    );
  }
  const amount = /^\d+$/.test(text) ? Number(text) : undefined;
  if (amount === 0 || text === '') return { mode: 'off' };
  if (mode === 'revision' && amount !== undefined) return { mode, revisions: amount };
  const periodMs = amount === undefined ? parseGoDuration(text) : amount * 3_600_000;
  if (periodMs === undefined || periodMs < 0) {
    throw new ConfigError(`error parsing CompactionRetention: invalid duration ${JSON.stringify(text)}`);
  }
  if (periodMs === 0) return { mode: 'off' };
  return mode === 'revision' ? { mode, revisions: periodMs * NANOSECONDS_PER_MS } : { mode, periodMs };
}
