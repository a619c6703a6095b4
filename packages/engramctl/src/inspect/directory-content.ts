import type { StoppedStore } from '@engram/server';
import { mvccpb } from '@engram/wire';
import { historyContent, type Version } from './history-content.ts';
import type { StoreContent } from './stored-key.ts';

/** Versions that are read together have about so many bytes, and are at most so many. */
const PAGE_BYTES = 1 << 20;
const PAGE_VERSIONS = 4096;

/** The content of a data directory of Engram. Held is what `historyContent` holds, beside what the store itself takes. */
export const directoryContent = (
  name: string,
  { image }: Pick<StoppedStore, 'image'>,
  prefix: Uint8Array,
  signal: AbortSignal,
): Promise<StoreContent> =>
  historyContent(name, { compactRevision: image.compactRevision, pages: () => versionsOf(image, signal) }, prefix);

async function* versionsOf(image: StoppedStore['image'], signal: AbortSignal): AsyncGenerator<readonly Version[]> {
  for (let from = 0; from < image.count; ) {
    let to = from + 1;
    let bytes = image.bytes(from);
    for (; to < image.count && to - from < PAGE_VERSIONS && bytes < PAGE_BYTES; to += 1) bytes += image.bytes(to);
    const encoded = await image.read(from, to, signal);
    const first = from;
    yield encoded.map((kv, more) => ({
      kv: mvccpb.decodeKeyValue(kv),
      modRevision: image.modRevision(first + more),
      tombstone: image.isTombstone(first + more),
    }));
    from = to;
  }
}
