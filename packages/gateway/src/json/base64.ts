import { GrpcCode } from '@engram/core';
import { byteSteps, type PureJob, type Turn } from '@engram/loop';
import { StatusError } from '@engram/wire';
import type { GrowingBytes } from './growing-bytes.ts';

/** A multiple of four characters. */
const CHUNK_CHARACTERS = 32 * 1024;
const PADDING = 0x3d;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** The number of bytes that base64 of `characters`, without padding, stands for. */
export const base64Bytes = (characters: number): number => Math.floor((characters * 3) / 4);

/** Whether these characters are taken as padded. Go counts the breaks of lines among them, which it passes over otherwise. */
export const isPadded = (characters: number): boolean => characters % 4 === 0;

/** The characters without the breaks of lines, as Go's decoder reads them. They take the place of those that were there. */
export function* withoutBreaks(bytes: Buffer, turn: Turn): PureJob<Buffer> {
  let length = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at]!;
    if (byte !== LINE_FEED && byte !== CARRIAGE_RETURN) {
      bytes[length] = byte;
      length += 1;
    }
    if (at % CHUNK_CHARACTERS === CHUNK_CHARACTERS - 1 && turn.shouldYield(byteSteps(CHUNK_CHARACTERS))) yield;
  }
  return bytes.subarray(0, length);
}

/**
 * The characters of base64 without the padding at their end, by the rules of protobuf's JSON in Go: padded to four or not at all,
 * and in one of the two alphabets. Undefined if there can be none.
 */
export function withoutPadding(bytes: Buffer, start: number, end: number, padded: boolean): number | undefined {
  const rest = (end - start) % 4;
  if (padded ? rest !== 0 : rest === 1) return undefined;
  let last = end;
  while (last > start && end - last < 2 && bytes[last - 1] === PADDING) last -= 1;
  return padded || last === end ? last : undefined;
}

/** Decodes what `withoutPadding` has left, behind what is in `into`. `what` names it in errors. */
export function* decodeBase64(
  bytes: Buffer,
  start: number,
  end: number,
  into: GrowingBytes,
  what: string,
  turn: Turn,
): PureJob<void> {
  let standard = false;
  let ofUrls = false;
  for (let at = start; at < end; at += CHUNK_CHARACTERS) {
    const text = bytes.toString('latin1', at, Math.min(end, at + CHUNK_CHARACTERS));
    standard ||= /[+/]/.test(text);
    ofUrls ||= /[-_]/.test(text);
    if (!/^[\w+/-]*$/.test(text) || (standard && ofUrls)) {
      throw new StatusError(GrpcCode.INVALID_ARGUMENT, `proto: invalid value for bytes field ${what}: not base64`);
    }
    into.put(Buffer.from(text, 'base64'));
    if (turn.shouldYield(byteSteps(text.length))) yield;
  }
}
