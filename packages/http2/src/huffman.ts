import { ErrorCode } from './constants.ts';
import { Http2Error } from './http2-error.ts';

/**
 * Code lengths, in bits, of the bytes 0 to 255 and of the end mark (RFC 7541 Appendix B). The code is canonical, so the
 * lengths define it: codes of one length ascend with the symbol.
 */
const lengths: readonly number[] = [
  13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28,
  28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
  13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6, 15, 5, 6, 5, 6,
  5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23,
  22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20, 22, 22,
  23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23, 26, 26,
  20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27,
  27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27,
  27, 27, 27, 26, 30,
];
const endMark = 256;
const longestCode = 30;

function canonicalCodes(): Uint32Array {
  const codes = new Uint32Array(lengths.length);
  let code = 0;
  for (let length = 1; length <= longestCode; length += 1) {
    for (let symbol = 0; symbol < lengths.length; symbol += 1) {
      if (lengths[symbol] !== length) continue;
      codes[symbol] = code;
      code += 1;
    }
    code *= 2;
  }
  return codes;
}

const codes = canonicalCodes();

// The decoder is a state machine that takes four bits per step. A state is an inner node of the code tree. An entry has
// the next node, a flag for a completed byte (never two: a code has at least five bits), and a flag for the end mark.
// 256 nodes * 16 entries.
const emits = 0x1_0000;
const failed = 0x2_0000;
const machine = new Uint32Array(256 * 16);
/** States in which the input may end: less than a byte since the last symbol, all ones (RFC 7541 §5.2). */
const mayEnd = new Uint8Array(256);

function buildMachine(): void {
  const children: number[][] = [[]];
  for (let symbol = 0; symbol <= endMark; symbol += 1) {
    let node = 0;
    for (let bit = lengths[symbol]! - 1; bit > 0; bit -= 1) {
      const side = (codes[symbol]! >>> bit) & 1;
      let next = children[node]![side];
      if (next === undefined) {
        next = children.push([]) - 1;
        children[node]![side] = next;
      }
      node = next;
    }
    children[node]![codes[symbol]! & 1] = -1 - symbol; // leaves are negative
  }
  for (let state = 0; state < 256; state += 1) {
    for (let nibble = 0; nibble < 16; nibble += 1) machine[state * 16 + nibble] = transition(children, state, nibble);
  }
  let node: number | undefined = 0;
  for (let ones = 0; ones < 8 && node !== undefined && node >= 0; ones += 1) {
    mayEnd[node] = 1;
    node = children[node]![1];
  }
}

/** The next state, the completed byte in bits 8 to 15, and flags. */
function transition(children: readonly (readonly number[])[], state: number, nibble: number): number {
  let node = state;
  let out = 0;
  for (let bit = 3; bit >= 0; bit -= 1) {
    const next = children[node]![(nibble >>> bit) & 1]!;
    if (next >= 0) {
      node = next;
      continue;
    }
    const symbol = -1 - next;
    if (symbol === endMark) return failed;
    out = emits | (symbol << 8);
    node = 0;
  }
  return node | out;
}

buildMachine();

/** The maximum length of `bytes` Huffman-coded bytes after decoding. The shortest code has five bits. */
export function huffmanDecodedMax(bytes: number): number {
  return Math.ceil((bytes * 8) / 5);
}

/** Decodes `bytes[start, end)` into `target` (of huffmanDecodedMax bytes). Returns the number of bytes. */
export function huffmanDecode(bytes: Uint8Array, start: number, end: number, target: Uint8Array): number {
  let state = 0;
  let out = 0;
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at]!;
    const high = machine[(state << 4) | (byte >>> 4)]!;
    if (high >= emits) {
      if (high >= failed) throw badCode();
      target[out] = high >>> 8;
      out += 1;
    }
    const low = machine[((high & 0xff) << 4) | (byte & 0xf)]!;
    if (low >= emits) {
      if (low >= failed) throw badCode();
      target[out] = low >>> 8;
      out += 1;
    }
    state = low & 0xff;
  }
  if (mayEnd[state] === 0) throw badCode();
  return out;
}

function badCode(): Http2Error {
  return new Http2Error(ErrorCode.COMPRESSION_ERROR, 'bad Huffman code or padding');
}

/** The encoded length of `text`, which has one character for each byte. */
export function huffmanLength(text: string): number {
  let bits = 0;
  for (let at = 0; at < text.length; at += 1) bits += lengths[text.charCodeAt(at)]!;
  return Math.ceil(bits / 8);
}

/** Writes `text` at `at` and returns the index after it. `target` must have room for `huffmanLength` bytes. */
export function huffmanEncode(text: string, target: Uint8Array, at: number): number {
  let out = at;
  // Up to 7 bits of an incomplete byte and a code of 30 bits exceed 32 bits, so long codes are written in two parts.
  let waiting = 0;
  let bits = 0;
  const put = (code: number, length: number): void => {
    waiting = (waiting << length) | code;
    bits += length;
    while (bits >= 8) {
      bits -= 8;
      target[out] = waiting >>> bits;
      out += 1;
    }
    waiting &= (1 << bits) - 1;
  };
  for (let at = 0; at < text.length; at += 1) {
    const symbol = text.charCodeAt(at);
    const code = codes[symbol]!;
    const length = lengths[symbol]!;
    if (length > 16) {
      put(code >>> 16, length - 16);
      put(code & 0xffff, 16);
    } else {
      put(code, length);
    }
  }
  if (bits > 0) {
    target[out] = (waiting << (8 - bits)) | (0xff >>> bits);
    out += 1;
  }
  return out;
}
