import type { EventGroup, KeyRange, Revision } from '@engram/core';
import { cutIntoOffers } from '../events/cut-into-offers.ts';
import type { HistoryPage } from '../ports.ts';

/** Bytes that an event takes beside its KeyValue, approximately. */
const EVENT_BYTES = 200;

/** What a page was read for. */
export interface PageName {
  readonly range: KeyRange;
  readonly prevKv: boolean;
  readonly from: Revision;
  /** When the read began. */
  readonly compactRevision: Revision;
}

interface Remembered {
  readonly page: HistoryPage;
  readonly bytes: number;
}

type Offer = readonly EventGroup[];

/**
 * Pages of history that were read lately. The watchers of a stream that became full are behind at the same few revisions,
 * and many of them have the same range. They get the same page, so history is read once for all of them, and the sink, which
 * compares by identity, encodes the events once.
 *
 * Events never change. But a page lacks superseded versions that were compacted when it was read, and a page read after a
 * later compaction lacks more. So a page is only given out while the compact revision is that of its read.
 */
export class RecentPages {
  readonly #pages = new Map<string, Remembered>();
  readonly #offers = new WeakMap<Offer, readonly Offer[]>();
  readonly #bytesMax: number;
  #bytes = 0;

  /** `bytesMax`: of all remembered pages together, at most half of it of one page. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** A page that begins at `from` and ends at or before `to`. */
  find(wanted: PageName, to: Revision): HistoryPage | undefined {
    const found = this.#pages.get(textOf(wanted));
    return found !== undefined && found.page.next <= to + 1 ? found.page : undefined;
  }

  /** Pages without events, and very long ones, are not kept. */
  keep(read: PageName, page: HistoryPage): void {
    const pageMax = this.#bytesMax / 2;
    const bytes = bytesOf(page.groups, pageMax);
    if (bytes === 0 || bytes > pageMax) return;
    const name = textOf(read);
    this.#forget(name);
    this.#pages.set(name, { page, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#pages.keys()) {
      if (this.#bytes <= this.#bytesMax) break;
      this.#forget(oldest);
    }
  }

  /** As `cutIntoOffers`. The same groups give the same offers. */
  cut(groups: Offer, groupsMax: number, bytesMax: number): readonly Offer[] {
    let offers = this.#offers.get(groups);
    if (offers === undefined) {
      offers = cutIntoOffers(groups, groupsMax, bytesMax);
      this.#offers.set(groups, offers);
    }
    return offers;
  }

  /** No watcher is behind: nobody is likely to want these pages again. */
  clear(): void {
    this.#pages.clear();
    this.#bytes = 0;
  }

  #forget(name: string): void {
    this.#bytes -= this.#pages.get(name)?.bytes ?? 0;
    this.#pages.delete(name);
  }
}

function textOf({ range: { key, end }, prevKv, from, compactRevision }: PageName): string {
  return `${from} ${compactRevision} ${prevKv} ${key.length} ${latin1(key)}${latin1(end)}`;
}

const latin1 = ({ buffer, byteOffset, length }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, length).toString('latin1');

/** Stops counting above `enough`. */
function bytesOf(groups: Offer, enough: number): number {
  let bytes = 0;
  for (const { events } of groups) {
    for (const { kv, prevKv } of events) {
      bytes += kv.length + (prevKv?.length ?? 0) + EVENT_BYTES;
      if (bytes > enough) return bytes;
    }
  }
  return bytes;
}
