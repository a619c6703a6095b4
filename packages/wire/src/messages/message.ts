import { assert } from '@engram/core';
import type { LongMessage, Message } from '../rpc.ts';

/** The length of a message, all pieces together. */
export function messageBytes(message: Message): number {
  if (message instanceof Uint8Array) return message.length;
  if (isLong(message)) return message.bytes;
  let bytes = 0;
  for (const piece of message) bytes += piece.length;
  return bytes;
}

/** The message in one piece. A LongMessage is read by this. */
export function joinMessage(message: Message): Uint8Array {
  if (message instanceof Uint8Array) return message;
  if (!isLong(message)) return Buffer.concat(message);
  const whole = Buffer.allocUnsafeSlow(message.bytes);
  assert(message.read(whole, 0, whole.length) === whole.length, 'a message is shorter than it says');
  return whole;
}

export const isLong = (message: Message): message is LongMessage => 'read' in message;
