import type { MetricRegistry } from './metric-registry.ts';

/** What a node has read back of its disk since its start. */
export interface ScrubReading {
  readonly records: number;
  readonly bytes: number;
  readonly damaged: number;
  readonly passes: number;
}

/** Without samples on a node that reads nothing back. */
export function registerScrubMetrics(registry: MetricRegistry, scrub: () => ScrubReading | undefined): void {
  const counter = (name: string, help: string, value: (reading: ScrubReading) => number): void =>
    registry.counter(name, help, () => {
      const now = scrub();
      return now === undefined ? [] : [{ labels: {}, value: value(now) }];
    });
  counter(
    'engram_scrub_records_total',
    'Records that were read back from the disk and verified.',
    (now) => now.records,
  );
  counter('engram_scrub_bytes_total', 'Their bytes, and those of checkpoints.', ({ bytes }) => bytes);
  counter(
    'engram_scrub_damaged_total',
    'Damaged records, and checkpoints or logs that cannot be read.',
    (now) => now.damaged,
  );
  counter('engram_scrub_passes_total', 'How often all that the disk holds was read back.', ({ passes }) => passes);
}
