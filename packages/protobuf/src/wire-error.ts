/**
 * Bytes that are not a valid protobuf message: torn, with an unknown wire type, or with a string that is not UTF-8. The
 * peer sent them; nothing is wrong on this side. The message is the text of protobuf-go, because etcd's clients get it.
 */
export class WireError extends Error {
  override readonly name = 'WireError';
}

/** protobuf-go has one text for nearly every fault (internal/impl/decode.go: errDecode). `cause` names the fault. */
export const malformed = (fault: string): WireError =>
  new WireError('proto: cannot parse invalid wire-format data', { cause: fault });
