/** Beside this much more than it needs, a view is as good as a copy. */
const SPARE_BYTES = 512;

/**
 * Bytes that are kept longer than the call that brought them, without the chunk that they are a view of: the client chooses what else
 * is in it, and only they count. A copy, unless they are a good part of the chunk.
 */
export function ownBytes(view: Buffer): Buffer {
  if (view.buffer.byteLength <= 2 * view.length + SPARE_BYTES) return view;
  // Not from node's pool, which others keep alive, and which these bytes would.
  const own = Buffer.allocUnsafeSlow(view.length);
  view.copy(own);
  return own;
}
