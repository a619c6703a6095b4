import { hex } from './hex-id.ts';
import type { MetricRegistry } from './metric-registry.ts';

/** A member that trims of the log, or an image, wait for. */
export interface LogHolderReading {
  readonly member: bigint;
  readonly heldMs: number;
  /** They no longer wait for it. */
  readonly leftBehind: boolean;
}

/** Only the leader has samples, and only while a member holds the log back. */
export function registerLogHolderMetrics(registry: MetricRegistry, holders: () => readonly LogHolderReading[]): void {
  const each = (value: (holder: LogHolderReading) => number) => () =>
    holders().map((holder) => ({ labels: { member: hex(holder.member) }, value: value(holder) }));
  registry.gauge(
    'engram_log_held_seconds',
    'For how long a member has held back trims of the log, or images.',
    each(({ heldMs }) => heldMs / 1000),
  );
  registry.gauge(
    'engram_log_member_left_behind',
    '1 for a member that trims and images no longer wait for, although it is not silent.',
    each(({ leftBehind }) => (leftBehind ? 1 : 0)),
  );
}
