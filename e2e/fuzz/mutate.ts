import type { Prng } from '@engram/sim';

/** Bytes at which parsers branch: ends of varints, lengths, flags. */
const telling = [0, 1, 0x7f, 0x80, 0xff, 0x0a, 0x0d, 0x20, 0x3a];
const MUTATED_MAX_BYTES = 32 * 1024;

/** Changes, removes or repeats some bytes, or inserts bytes from another input. */
export function mutated(random: Prng, input: Uint8Array, others: readonly Uint8Array[]): Buffer {
  let bytes: Buffer = Buffer.from(input);
  for (let changes = 1 + random.below(4); changes > 0; changes -= 1) bytes = changed(random, bytes, others);
  return bytes.subarray(0, MUTATED_MAX_BYTES);
}

function changed(random: Prng, bytes: Buffer, others: readonly Uint8Array[]): Buffer {
  if (bytes.length === 0) return Buffer.from([random.below(256)]);
  const at = random.below(bytes.length);
  const end = Math.min(bytes.length, at + 1 + random.below(random.chance(0.8) ? 8 : 512));
  const part = bytes.subarray(at, end);
  switch (random.below(8)) {
    case 0:
      bytes[at] = bytes[at]! ^ (1 << random.below(8));
      return bytes;
    case 1:
      bytes[at] = random.pick(telling);
      return bytes;
    case 2:
      bytes[at] = random.below(256);
      return bytes;
    case 3:
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(end)]);
    case 4:
      return Buffer.concat([bytes.subarray(0, end), part, bytes.subarray(end)]);
    case 5:
      return Buffer.concat([bytes.subarray(0, at), randomBytes(random, 1 + random.below(16)), bytes.subarray(at)]);
    case 6: {
      // Repeats a part: finds inputs whose cost grows faster than their length.
      const times = Math.min(200, Math.floor(MUTATED_MAX_BYTES / part.length));
      return Buffer.concat([bytes.subarray(0, at), ...Array.from({ length: times }, () => part), bytes.subarray(end)]);
    }
    default: {
      const other = others.length === 0 ? bytes : random.pick(others);
      const from = random.below(Math.max(1, other.length));
      return Buffer.concat([
        bytes.subarray(0, at),
        other.subarray(from),
        random.chance(0.5) ? bytes.subarray(at) : part,
      ]);
    }
  }
}

export function randomBytes(random: Prng, length: number): Buffer {
  return Buffer.from(Array.from({ length }, () => random.below(256)));
}
