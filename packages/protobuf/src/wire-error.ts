/**
 * The bytes are not a valid protobuf message: truncated, with an unknown wire type, or with a string that is not UTF-8.
 * The peer is at fault. The text is protobuf-go's, because etcd's clients see it.
 */
export class WireError extends Error {
  override readonly name = 'WireError';
}

/** protobuf-go has one text for nearly every fault (internal/impl/decode.go: errDecode). `cause` names the fault. */
export const malformed = (fault: string): WireError =>
  new WireError('proto: cannot parse invalid wire-format data', { cause: fault });
