import { compareBytes, equalBytes, keyText } from '@engram/core';

/** A longer chain of colliding hashes is not accidental. Then a Set of strings is used instead. */
const PROBES_MAX = 32;

/**
 * The items whose key no earlier item has, in their order. The array itself if all keys differ. If the items are in key order,
 * the usual case, neighbours are compared. Otherwise the keys go into a hash table of positions, which for a hundred unordered
 * keys takes a tenth of the time of a Set of strings.
 */
export function uniqueByKey<Item>(items: readonly Item[], keyOf: (item: Item) => Uint8Array): readonly Item[] {
  let at = 1;
  while (at < items.length && compareBytes(keyOf(items[at - 1]!), keyOf(items[at]!)) < 0) at += 1;
  if (at >= items.length) return items;
  return uniqueByHash(items, keyOf) ?? uniqueByText(items, keyOf);
}

/** Undefined if too many hashes collide. */
function uniqueByHash<Item>(items: readonly Item[], keyOf: (item: Item) => Uint8Array): readonly Item[] | undefined {
  const size = 2 << (32 - Math.clz32(items.length));
  /** Positions in `items` plus one. 0 is a free slot. */
  const table = new Uint32Array(size);
  let unique: Item[] | undefined;
  for (let at = 0; at < items.length; at += 1) {
    const item = items[at]!;
    const key = keyOf(item);
    let slot = hashOf(key) & (size - 1);
    let twice = false;
    for (let probes = 0; table[slot] !== 0; probes += 1) {
      if (probes === PROBES_MAX) return undefined;
      twice = equalBytes(keyOf(items[table[slot]! - 1]!), key);
      if (twice) break;
      slot = (slot + 1) & (size - 1);
    }
    if (twice) unique ??= items.slice(0, at);
    else {
      table[slot] = at + 1;
      unique?.push(item);
    }
  }
  return unique ?? items;
}

function uniqueByText<Item>(items: readonly Item[], keyOf: (item: Item) => Uint8Array): readonly Item[] {
  const seen = new Set<string>();
  return items.filter((item) => {
    const name = keyText(keyOf(item));
    return !seen.has(name) && seen.add(name);
  });
}

/** FNV-1a with the upper half mixed into the lower, because keys usually differ in their last bytes. */
function hashOf(key: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < key.length; at += 1) hash = Math.imul(hash ^ key[at]!, 0x01000193);
  return hash ^ (hash >>> 15);
}
