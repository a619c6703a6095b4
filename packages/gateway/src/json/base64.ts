import { GrpcCode } from '@engram/core';
import { byteSteps, type PureJob, type Turn } from '@engram/loop';
import { StatusError } from '@engram/wire';
import type { GrowingBytes } from './growing-bytes.ts';

/** A multiple of four characters. */
const CHUNK_CHARACTERS = 32 * 1024;
const PADDING = 0x3d;

/** The number of bytes that base64 of `characters`, without padding, stands for. */
export const base64Bytes = (characters: number): number => Math.floor((characters * 3) / 4);

/**
 * The characters of base64 without the padding at their end, by the rules of protobuf's JSON in Go: padded to four or not at all,
 * and in one of the two alphabets. Undefined if there can be none.
 */
export function withoutPadding(bytes: Buffer, start: number, end: number): number | undefined {
  let last = end;
  while (last > start && end - last < 2 && bytes[last - 1] === PADDING) last -= 1;
  const padded = (end - start) % 4 === 0;
  if (!padded && (last < end || (end - start) % 4 === 1)) return undefined;
  return last;
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
