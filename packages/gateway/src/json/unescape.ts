import { GrpcCode } from '@engram/core';
import { byteSteps, type PureJob, type Turn } from '@engram/loop';
import { StatusError } from '@engram/wire';

const BACKSLASH = 0x5c;
const CHUNK_BYTES = 8 * 1024;
const shortEscapes: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/** The bytes of a JSON string whose escapes are replaced by what they mean, in UTF-8. A new array. */
export function* unescaped(bytes: Buffer, start: number, end: number, turn: Turn): PureJob<Buffer> {
  // An escape is never shorter than what it means.
  const text = Buffer.allocUnsafe(end - start);
  let length = 0;
  let looked = start;
  for (let at = start; at < end; ) {
    const byte = bytes[at]!;
    if (byte !== BACKSLASH) {
      text[length] = byte;
      length += 1;
      at += 1;
    } else {
      const { meaning, characters } = escapeAt(bytes, at, end);
      length += text.write(meaning, length);
      at += characters;
    }
    if (at - looked < CHUNK_BYTES) continue;
    looked = at;
    if (turn.shouldYield(byteSteps(CHUNK_BYTES))) yield;
  }
  return text.subarray(0, length);
}

/** The escape that begins with the backslash at `at`. Two halves of a character outside of the first plane are one. */
function escapeAt(bytes: Buffer, at: number, end: number): { readonly meaning: string; readonly characters: number } {
  const letter = String.fromCharCode(bytes[at + 1]!);
  if (letter === 'u') {
    const high = codeAt(bytes, at, end);
    if (high < 0xd800 || high > 0xdfff) return { meaning: String.fromCharCode(high), characters: 6 };
    const low = bytes[at + 6] === BACKSLASH && bytes[at + 7] === 0x75 ? codeAt(bytes, at + 6, end) : 0;
    if (high > 0xdbff || low < 0xdc00 || low > 0xdfff) throw invalidEscape();
    return { meaning: String.fromCharCode(high, low), characters: 12 };
  }
  if (letter === '"' || letter === '\\' || letter === '/') return { meaning: letter, characters: 2 };
  const meaning = Object.hasOwn(shortEscapes, letter) ? shortEscapes[letter] : undefined;
  if (meaning === undefined) throw invalidEscape();
  return { meaning, characters: 2 };
}

function codeAt(bytes: Buffer, at: number, end: number): number {
  const digits = bytes.toString('latin1', at + 2, Math.min(end, at + 6));
  if (!/^[\da-fA-F]{4}$/.test(digits)) throw invalidEscape();
  return Number.parseInt(digits, 16);
}

const invalidEscape = (): StatusError =>
  new StatusError(GrpcCode.INVALID_ARGUMENT, 'proto: syntax error: invalid escape code in string');
