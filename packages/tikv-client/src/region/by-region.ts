import { Limiter } from '@engram/core';
import type { Backoffer } from '../backoff/backoffer.ts';
import type { RegionCalls } from './region-calls.ts';
import type { Region } from './region.ts';
import { uniqueByKey } from './unique-by-key.ts';
import { settleAll } from '../runtime/settle-all.ts';

/** Bounds of the keys of one request, which a store may have to write as one entry of its Raft log. */
const PART_KEYS_MAX = 1_024;
const PART_KEY_BYTES_MAX = 1 << 20;

/** `moved`: no answer came, because the keys may be in other regions now. */
export type PartResult = 'done' | 'moved';

export interface ByRegionOptions<Item> {
  readonly backoffer: Backoffer;
  keyOf(item: Item): Uint8Array;
  /** Sends one request about the keys of one part. `relocations`: how often the keys have been grouped again. */
  send(region: Region, part: readonly Item[], relocations: number): Promise<PartResult>;
  /** Limits the requests under way at a time. `concurrency` of the settings if absent. */
  readonly limiter?: Limiter | undefined;
  /** Sends one part after another, starting with the part of the first item. The first failure ends it. */
  readonly inOrder?: boolean | undefined;
}

/**
 * Every request that takes a list of keys is sent through this function. It removes repeated keys: TiKV panics if a request
 * rolls back a key twice, and waits for itself if a request locks a key twice. It cuts the items, in their order, into parts
 * that lie in one region and fit into one request. Parts that moved are grouped again. Returns the items without repeated
 * keys. If one part fails the others are still sent, unless `inOrder` is set.
 */
export async function sendByRegion<Item>(
  calls: Pick<RegionCalls, 'settings' | 'locator'>,
  items: readonly Item[],
  options: ByRegionOptions<Item>,
): Promise<readonly Item[]> {
  const limiter = options.limiter ?? new Limiter(calls.settings.concurrency);
  const unique = uniqueByKey(items, options.keyOf);
  await sendGroups(calls, unique, options, limiter, 0);
  return unique;
}

async function sendGroups<Item>(
  calls: Pick<RegionCalls, 'settings' | 'locator'>,
  items: readonly Item[],
  options: ByRegionOptions<Item>,
  limiter: Limiter,
  relocations: number,
): Promise<void> {
  const groups = await calls.locator.groupBy(items, options.keyOf, options.backoffer);
  const tasks: Promise<void>[] = [];
  for (const { region, items: own } of groups) {
    for (const part of partsOf(own, options.keyOf)) {
      if (options.inOrder) {
        if ((await options.send(region, part, relocations)) === 'moved')
          await sendGroups(calls, part, options, limiter, relocations + 1);
        continue;
      }
      const sending = limiter.run(() => options.send(region, part, relocations));
      // Keys are grouped again outside of the limiter, because a task that waits for a place in it must not hold one.
      tasks.push(
        sending.then((result) =>
          result === 'done' ? undefined : sendGroups(calls, part, options, limiter, relocations + 1),
        ),
      );
    }
  }
  await settleAll(tasks);
}

function* partsOf<Item>(items: readonly Item[], keyOf: (item: Item) => Uint8Array): Generator<readonly Item[]> {
  let from = 0;
  let bytes = 0;
  for (let at = 0; at < items.length; at += 1) {
    const size = keyOf(items[at]!).length;
    if (at > from && (at - from === PART_KEYS_MAX || bytes + size > PART_KEY_BYTES_MAX)) {
      yield items.slice(from, at);
      from = at;
      bytes = 0;
    }
    bytes += size;
  }
  if (from === 0) yield items;
  else if (from < items.length) yield items.slice(from);
}
