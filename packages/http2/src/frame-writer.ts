import { assert } from '@engram/core';
import { Flag, FRAME_HEADER_BYTES, FrameType, LARGEST_STREAM_ID } from './constants.ts';

/** Writes the header's 9 bytes at `at` and returns the index at which the payload begins. `target` must have room. */
export function putFrameHeader(
  target: Uint8Array,
  at: number,
  length: number,
  type: number,
  flags: number,
  streamId: number,
): number {
  target[at] = length >>> 16;
  target[at + 1] = length >>> 8;
  target[at + 2] = length;
  target[at + 3] = type;
  target[at + 4] = flags;
  target[at + 5] = streamId >>> 24;
  target[at + 6] = streamId >>> 16;
  target[at + 7] = streamId >>> 8;
  target[at + 8] = streamId;
  return at + FRAME_HEADER_BYTES;
}

export function putUint32(target: Uint8Array, at: number, value: number): number {
  target[at] = value >>> 24;
  target[at + 1] = value >>> 16;
  target[at + 2] = value >>> 8;
  target[at + 3] = value;
  return at + 4;
}

export function readUint32(bytes: Uint8Array, at: number): number {
  return ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0;
}

/** A complete frame with a four-byte payload. */
function wordFrame(type: number, streamId: number, value: number): Buffer {
  const frame = Buffer.allocUnsafe(FRAME_HEADER_BYTES + 4);
  putUint32(frame, putFrameHeader(frame, 0, 4, type, 0, streamId), value);
  return frame;
}

export function rstStreamFrame(streamId: number, errorCode: number): Buffer {
  return wordFrame(FrameType.RST_STREAM, streamId, errorCode);
}

export function windowUpdateFrame(streamId: number, increment: number): Buffer {
  assert(increment > 0 && increment < 2 ** 31, 'a window update of 0 or beyond 31 bits');
  return wordFrame(FrameType.WINDOW_UPDATE, streamId, increment);
}

export function settingsFrame(settings: readonly (readonly [id: number, value: number])[]): Buffer {
  const frame = Buffer.allocUnsafe(FRAME_HEADER_BYTES + 6 * settings.length);
  let at = putFrameHeader(frame, 0, 6 * settings.length, FrameType.SETTINGS, 0, 0);
  for (const [id, value] of settings) {
    frame[at] = id >>> 8;
    frame[at + 1] = id;
    at = putUint32(frame, at + 2, value);
  }
  return frame;
}

/** Shared between connections; must not be changed. */
export const settingsAckFrame: Buffer = Buffer.from([0, 0, 0, FrameType.SETTINGS, Flag.ACK, 0, 0, 0, 0]);

/** `data` is eight bytes. */
export function pingFrame(data: Uint8Array, ack: boolean): Buffer {
  assert(data.length === 8, 'a ping carries eight bytes');
  const frame = Buffer.allocUnsafe(FRAME_HEADER_BYTES + 8);
  frame.set(data, putFrameHeader(frame, 0, 8, FrameType.PING, ack ? Flag.ACK : 0, 0));
  return frame;
}

export function goAwayFrame(lastStreamId: number, errorCode: number, debugText: string): Buffer {
  assert(lastStreamId <= LARGEST_STREAM_ID, 'a stream id has 31 bits');
  const debug = Buffer.from(debugText);
  const frame = Buffer.allocUnsafe(FRAME_HEADER_BYTES + 8 + debug.length);
  let at = putFrameHeader(frame, 0, 8 + debug.length, FrameType.GOAWAY, 0, 0);
  at = putUint32(frame, at, lastStreamId);
  at = putUint32(frame, at, errorCode);
  frame.set(debug, at);
  return frame;
}

/** A block longer than `maxFrameBytes` continues in CONTINUATION frames. */
export function headersFrames(streamId: number, block: Uint8Array, endStream: boolean, maxFrameBytes: number): Buffer {
  const frameCount = Math.max(1, Math.ceil(block.length / maxFrameBytes));
  const frames = Buffer.allocUnsafe(block.length + FRAME_HEADER_BYTES * frameCount);
  let at = 0;
  for (let frame = 0; frame < frameCount; frame += 1) {
    const piece = block.subarray(frame * maxFrameBytes, (frame + 1) * maxFrameBytes);
    const first = frame === 0;
    const endHeaders = frame === frameCount - 1 ? Flag.END_HEADERS : 0;
    const flags = endHeaders | (first && endStream ? Flag.END_STREAM : 0);
    at = putFrameHeader(frames, at, piece.length, first ? FrameType.HEADERS : FrameType.CONTINUATION, flags, streamId);
    frames.set(piece, at);
    at += piece.length;
  }
  return frames;
}
