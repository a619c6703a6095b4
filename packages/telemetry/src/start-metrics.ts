import type { MetricRegistry } from './metric-registry.ts';
import type { Sample } from './plain-histogram.ts';

/** What a start reads of one kind. `of` and `bytesOf` are the expected totals, if they are known. */
export interface StartRead {
  readonly done: number;
  readonly of: number | undefined;
  readonly bytes: number;
  readonly bytesOf: number | undefined;
}

/** The state of a start, read at each scrape. */
export interface StartGauges {
  readonly phase: string;
  readonly phases: readonly string[];
  readonly read: ReadonlyMap<string, StartRead>;
}

/** How many bytes of the store a node has on its disk, if it started without all of them. */
export interface LocalBytes {
  readonly bytes: number;
  readonly of: number;
  readonly whole: boolean;
}

/** Registers metrics without samples if the node keeps no bytes on its disk. */
export function registerLocalBytesMetrics(registry: MetricRegistry, local: () => LocalBytes | undefined): void {
  const gauge = (name: string, help: string, value: (local: LocalBytes) => number): void =>
    registry.gauge(name, help, () => {
      const now = local();
      return now === undefined ? [] : [{ labels: {}, value: value(now) }];
    });
  gauge('engram_local_values_whole', '1 when all bytes of the store are on this node.', ({ whole }) => (whole ? 1 : 0));
  gauge('engram_local_image_bytes', 'Bytes of the image that this node has fetched.', ({ bytes }) => bytes);
  gauge('engram_local_image_bytes_expected', 'Bytes of the image that this node fetches.', ({ of }) => of);
}

/** Progress of a start. Once the node serves, what the start has read. */
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
