const plain = /^[ -$&-~]*$/;

/**
 * Encodes `grpc-message`: printable ASCII is kept; `%` and every other byte of the UTF-8 text become %XX (gRPC over
 * HTTP/2).
 */
export function percentEncode(text: string): string {
  if (plain.test(text)) return text;
  let encoded = '';
  for (const byte of Buffer.from(text)) {
    const asIs = byte >= 0x20 && byte <= 0x7e && byte !== 0x25;
    encoded += asIs ? String.fromCharCode(byte) : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return encoded;
}
