import type { Message } from '../rpc.ts';

/** The length of a message, all pieces together. */
export function messageBytes(message: Message): number {
  if (message instanceof Uint8Array) return message.length;
  let bytes = 0;
  for (const piece of message) bytes += piece.length;
  return bytes;
}

/** The message in one piece. */
export function joinMessage(message: Message): Uint8Array {
  return message instanceof Uint8Array ? message : Buffer.concat(message);
}
