/** Segments of a key that may be recorded: of Kubernetes' keys the prefix and the kind, such as `/registry/secrets`. */
const SEGMENTS = 2;
const SCOPE_MAX_LENGTH = 128;
const SLASH = 0x2f;
const plain = /^[\x21-\x7e]*$/;

/**
 * The first two segments of a key, each only if a slash follows it: the last segment of a key names something. Empty if there are
 * none, or if they are no plain text.
 */
export function keyScope(key: Uint8Array): string {
  let end = 0;
  let segments = 0;
  // A slash at the beginning opens the first segment.
  for (let at = key[0] === SLASH ? 1 : 0; at < key.length && segments < SEGMENTS; at += 1) {
    if (key[at] !== SLASH) continue;
    end = at;
    segments += 1;
  }
  if (end > SCOPE_MAX_LENGTH) return '';
  const text = Buffer.from(key.buffer, key.byteOffset, end).toString('latin1');
  return plain.test(text) ? text : '';
}
