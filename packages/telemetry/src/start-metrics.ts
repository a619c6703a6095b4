import type { MetricRegistry } from './metric-registry.ts';
import type { Sample } from './plain-histogram.ts';

/** What a start reads of one kind: `of` and `bytesOf` where they are known. */
export interface StartRead {
  readonly done: number;
  readonly of: number | undefined;
  readonly bytes: number;
  readonly bytesOf: number | undefined;
}

/** A start, asked for at each scrape. */
export interface StartGauges {
  readonly phase: string;
  readonly phases: readonly string[];
  readonly read: ReadonlyMap<string, StartRead>;
}

/** How far a start is, and once the node serves, what it has read for that. */
export function registerStartMetrics(registry: MetricRegistry, start: () => StartGauges): void {
  const read = (name: string, help: string, value: (read: StartRead) => number | undefined): void =>
    registry.gauge(name, help, () => {
      const samples: Sample[] = [];
      for (const [from, each] of start().read) {
        const one = value(each);
        if (one !== undefined) samples.push({ labels: { from }, value: one });
      }
      return samples;
    });
  registry.gauge('engram_start_phase', '1 for what the start is doing, "serving" when it has ended.', () => {
    const { phase, phases } = start();
    return phases.map((each) => ({ labels: { phase: each }, value: each === phase ? 1 : 0 }));
  });
  const unit = 'chunks of an image or a checkpoint, records of the log';
  read('engram_start_read_items', `What the start has read: ${unit}.`, ({ done }) => done);
  read('engram_start_read_items_expected', `What the start has to read, where it is known: ${unit}.`, ({ of }) => of);
  read('engram_start_read_bytes', 'Bytes that the start has read.', ({ bytes }) => bytes);
  read(
    'engram_start_read_bytes_expected',
    'Bytes that it has to read, where they are known.',
    ({ bytesOf }) => bytesOf,
  );
}
