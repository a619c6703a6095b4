import type { CompactionRetention } from '@engram/member';
import { ConfigError } from './flag-values.ts';
import { parseGoDuration } from './go-duration.ts';

/**
 * Parses the retention. An integer is hours or revisions, depending on the mode (embed/etcd.go
 * parseCompactionRetention). A duration is valid in periodic mode only.
 */
export function parseCompactionRetention(mode: string, text: string): CompactionRetention {
  if (mode !== 'periodic' && mode !== 'revision') {
    throw new ConfigError(
      mode === '' ? 'undefined auto-compaction-mode' : `unknown auto-compaction-mode ${JSON.stringify(mode)}`,
    );
  }
  const amount = /^\d+$/.test(text) ? Number(text) : undefined;
  if (amount === 0 || text === '') return { mode: 'off' };
  if (mode === 'revision') {
    if (amount === undefined) {
      throw new ConfigError(
        `--auto-compaction-retention=${text} is no number of revisions, which mode "revision" needs`,
      );
    }
    return { mode, revisions: amount };
  }
  const periodMs = amount === undefined ? parseGoDuration(text) : amount * 3_600_000;
  if (periodMs === undefined || periodMs < 0) {
    throw new ConfigError(`error parsing CompactionRetention: invalid duration ${JSON.stringify(text)}`);
  }
  return periodMs === 0 ? { mode: 'off' } : { mode, periodMs };
}
