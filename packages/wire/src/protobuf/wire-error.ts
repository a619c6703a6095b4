/**
 * Bytes that are no protobuf message: torn, of an unknown wire type, or with a string that is no UTF-8. The client sent
 * them; nothing is wrong here.
 */
export class WireError extends Error {
  override readonly name = 'WireError';
}
