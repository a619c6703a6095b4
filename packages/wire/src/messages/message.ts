import { assert } from '@engram/core';
import type { LongMessage, Message } from '../rpc.ts';

/** Bytes of a LongMessage that `gatherMessage` prepares and reads in one step. */
const GATHERED_BYTES = 64 * 1024;

/** The length of a message, all pieces together. */
export function messageBytes(message: Message): number {
  if (message instanceof Uint8Array) return message.length;
  if (isLong(message)) return message.bytes;
  let bytes = 0;
  for (const piece of message) bytes += piece.length;
  return bytes;
}

/** The message as one array. Reads a LongMessage to its end and drops it; all its bytes must be ready. */
export function joinMessage(message: Message): Uint8Array {
  if (message instanceof Uint8Array) return message;
  if (!isLong(message)) return Buffer.concat(message);
  const whole = Buffer.allocUnsafeSlow(message.bytes);
  try {
    assert(message.read(whole, 0, whole.length) === whole.length, 'a message is shorter than it says');
  } finally {
    message.drop();
  }
  return whole;
}

/** Like `joinMessage`, for a message that may not be ready. */
export async function gatherMessage(message: Message): Promise<Uint8Array> {
  if (message instanceof Uint8Array || !isLong(message)) return joinMessage(message);
  const whole = Buffer.allocUnsafeSlow(message.bytes);
  try {
    for (let at = 0; at < whole.length; ) {
      const end = Math.min(whole.length, at + GATHERED_BYTES);
      for (let ready = message.prepare(end - at); ready !== undefined; ready = message.prepare(end - at)) await ready;
      at = message.read(whole, at, end);
    }
  } finally {
    message.drop();
  }
  return whole;
}

/** Releases what a message holds, whether it was sent or not. */
export function dropMessage(message: Message): void {
  if (!(message instanceof Uint8Array) && isLong(message)) message.drop();
}

export const isLong = (message: Message): message is LongMessage => 'read' in message;
