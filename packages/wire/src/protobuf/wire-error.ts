/**
 * Bytes that are no protobuf message: torn, of an unknown wire type, or with a string that is no UTF-8. The client sent
 * them; nothing is wrong here. The message is what protobuf-go says, since clients get it.
 */
export class WireError extends Error {
  override readonly name = 'WireError';
}

/** protobuf-go has one text for nearly every fault (internal/impl/decode.go: errDecode); what it was is the cause. */
export const malformed = (fault: string): WireError =>
  new WireError('proto: cannot parse invalid wire-format data', { cause: fault });
