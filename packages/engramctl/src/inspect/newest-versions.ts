/** Slots of a new table, and the most: a key takes 24 to 48 bytes, so 2^26 keys take at most 3 GiB. */
const SLOTS_FIRST = 1 << 12;
const KEYS_MAX = 1 << 26;
const FREE = 0;

/**
 * Which entry of a history is the newest of its key, for keys in any order. Keeps of a key a hash of 64 bits and a number: two keys
 * with the same hash count as one, of a million keys with a probability of 1 in 30 million.
 */
export class NewestVersions {
  // The hash's halves, and the number of the entry; 0 in `#entries` is a free slot.
  #high = new Uint32Array(SLOTS_FIRST);
  #low = new Uint32Array(SLOTS_FIRST);
  #entries = new Float64Array(SLOTS_FIRST);
  #keys = 0;

  /** Keys so far. */
  get size(): number {
    return this.#keys;
  }

  /** Notes that entry `at`, counted from 0, is of the key. False if there are more keys than are taken. */
  note(key: Uint8Array, at: number): boolean {
    if (this.#keys * 2 >= this.#entries.length) this.#grow();
    const slot = this.#slotOf(hashOf(key, HIGH_SEED), hashOf(key, LOW_SEED));
    if (this.#entries[slot] === FREE) {
      if (this.#keys === KEYS_MAX) return false;
      this.#keys += 1;
    }
    this.#entries[slot] = at + 1;
    return true;
  }

  /** Whether no entry after `at` was noted of the key. */
  isNewest(key: Uint8Array, at: number): boolean {
    return this.#entries[this.#find(hashOf(key, HIGH_SEED), hashOf(key, LOW_SEED))] === at + 1;
  }

  #slotOf(high: number, low: number): number {
    const slot = this.#find(high, low);
    this.#high[slot] = high;
    this.#low[slot] = low;
    return slot;
  }

  /** The slot of the hash, or the free one where it belongs. There is always a free one. */
  #find(high: number, low: number): number {
    const mask = this.#entries.length - 1;
    for (let slot = low & mask; ; slot = (slot + 1) & mask) {
      if (this.#entries[slot] === FREE || (this.#high[slot] === high && this.#low[slot] === low)) return slot;
    }
  }

  #grow(): void {
    const [high, low, entries] = [this.#high, this.#low, this.#entries];
    const slots = entries.length * 2;
    this.#high = new Uint32Array(slots);
    this.#low = new Uint32Array(slots);
    this.#entries = new Float64Array(slots);
    for (let slot = 0; slot < entries.length; slot += 1) {
      if (entries[slot] !== FREE) this.#entries[this.#slotOf(high[slot]!, low[slot]!)] = entries[slot]!;
    }
  }
}

const HIGH_SEED = 0x9747b28c;
const LOW_SEED = 0x3c6ef372;

/** MurmurHash3 for 32 bits (Austin Appleby, public domain). */
function hashOf(key: Uint8Array, seed: number): number {
  let hash = seed | 0;
  const whole = key.length & ~3;
  for (let at = 0; at < whole; at += 4) {
    const word = key[at]! | (key[at + 1]! << 8) | (key[at + 2]! << 16) | (key[at + 3]! << 24);
    hash ^= mixed(word);
    hash = (hash << 13) | (hash >>> 19);
    hash = (Math.imul(hash, 5) + 0xe6546b64) | 0;
  }
  let tail = 0;
  for (let at = key.length - 1; at >= whole; at -= 1) tail = (tail << 8) | key[at]!;
  if (whole < key.length) hash ^= mixed(tail);
  hash ^= key.length;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

function mixed(word: number): number {
  const product = Math.imul(word, 0xcc9e2d51);
  return Math.imul((product << 15) | (product >>> 17), 0x1b873593);
}
