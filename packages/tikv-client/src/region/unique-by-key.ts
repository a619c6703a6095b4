import { compareBytes, equalBytes, keyText } from '@engram/core';

/** A longer chain of keys whose hashes meet is not by chance: then strings are compared. */
const PROBES_MAX = 32;

/**
 * Those of `items` whose key no earlier one has, in their order; the array itself if all differ. In key order, the usual case,
 * neighbours are compared. Else each key's place is hashed into a table: for a hundred keys in any order a tenth of what a Set
 * of strings takes.
 */
export function uniqueByKey<Item>(items: readonly Item[], keyOf: (item: Item) => Uint8Array): readonly Item[] {
  let at = 1;
  while (at < items.length && compareBytes(keyOf(items[at - 1]!), keyOf(items[at]!)) < 0) at += 1;
  if (at >= items.length) return items;
  return uniqueByHash(items, keyOf) ?? uniqueByText(items, keyOf);
}

/** Undefined: too many hashes meet. */
function uniqueByHash<Item>(items: readonly Item[], keyOf: (item: Item) => Uint8Array): readonly Item[] | undefined {
  const size = 2 << (32 - Math.clz32(items.length));
  /** Places in `items` plus one; 0 is free. */
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

/** FNV-1a, its upper half mixed in: keys differ in their last bytes. */
function hashOf(key: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < key.length; at += 1) hash = Math.imul(hash ^ key[at]!, 0x01000193);
  return hash ^ (hash >>> 15);
}
