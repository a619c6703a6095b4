import type { Call } from '../judge/judge.ts';
import type { Settings } from '../plan/settings.ts';
import type { Clients } from './clients.ts';
import { copyOfImage } from './copy-of-image.ts';
import type { Asking } from './lease-requests.ts';

/** How a client reads a snapshot. */
export interface SnapshotReader {
  /** See `Call`. */
  readonly from: number;
  readonly abortAfterMs: number | undefined;
  /** Versions that it reads at a time. */
  readonly slice: number;
  /** Between two slices. */
  readonly pause: (signal: AbortSignal) => Promise<void>;
}

/** A write that waits for room ends snapshots after a fourth of its time, by clocks that run a little apart. */
const HOLD_SHARE = 0.24;

export function readSnapshot({ world, life, face, name, credential }: Asking, reader: SnapshotReader): void {
  const { judge } = world;
  const { from: localFrom, abortAfterMs, slice, pause } = reader;
  world.calls.start({
    what: `${name} image`,
    life,
    from: localFrom,
    abortAfterMs,
    credential,
    need: { kind: 'root' },
    send: async (signal) => {
      using image = await face.image(signal);
      const kvs: Uint8Array[] = [];
      for (let from = 0; from < image.count; from += slice) {
        for (const kv of await image.read(from, Math.min(image.count, from + slice), signal)) kvs.push(kv);
        await pause(signal);
      }
      return { image: copyOfImage(image), kvs };
    },
    answered: (call, { image, kvs }) => judge.image(call, image, kvs),
    refused: (call, code) => judge.imageRefused(call, code, mayEnd(world, call)),
    text: ({ image }) => `${image.count} versions at ${image.revision}`,
  });
}

/** Whether a compaction may have ended the snapshot: after its time, or for a write that waits for room. */
function mayEnd({ settings, calls }: Clients, { startMs }: Call): boolean {
  if (settings.imageHoldMaxMs < 60_000) return true;
  return isBounded(settings) && calls.hasWaited(HOLD_SHARE * settings.requestTimeoutMs, startMs);
}

/** Whether the space of a node is bounded. The flags of members that are unlike may bound it. */
const isBounded = ({ quotaBytes, unlike }: Settings & { readonly unlike?: boolean }): boolean =>
  quotaBytes > 0 || unlike === true;
