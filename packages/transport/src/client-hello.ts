const RECORD_HEAD_BYTES = 5;
const HANDSHAKE = 22;
/** The head of a message of the handshake: its type, and its length in three bytes. */
const MESSAGE_HEAD_BYTES = 4;
/** More bytes are not waited for. A client hello has some hundred, two thousand with keys that resist quantum computers. */
export const CLIENT_HELLO_MAX_BYTES = 17 * 1024;

/**
 * Whether these first bytes of a connection have a whole client hello (RFC 8446, 5.1), so that OpenSSL would begin to work
 * for it. True also for bytes that are no client hello, or too many: OpenSSL says what is wrong.
 */
export function hasClientHello(bytes: Buffer): boolean {
  if (bytes.length > CLIENT_HELLO_MAX_BYTES) return true;
  const head: number[] = [];
  let received = 0;
  for (let at = 0; at < bytes.length; ) {
    if (bytes[at] !== HANDSHAKE) return true;
    if (at + RECORD_HEAD_BYTES > bytes.length) return false;
    const from = at + RECORD_HEAD_BYTES;
    const end = from + bytes.readUInt16BE(at + 3);
    if (end > bytes.length) return false;
    received += end - from;
    head.push(...bytes.subarray(from, Math.min(end, from + MESSAGE_HEAD_BYTES - head.length)));
    const [, high, middle, low] = head;
    if (low !== undefined && received >= MESSAGE_HEAD_BYTES + high! * 65_536 + middle! * 256 + low) return true;
    at = end;
  }
  return false;
}
