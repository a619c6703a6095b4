// While a store is restored into a prefix, the key of the cluster's root holds a mark: a line of JSON, which no program takes for a
// root. So no member founds a cluster there, and none starts.

const MAGIC = 'engram restore';
const FORMAT = 1;

/** `restore` is the number of the restore, drawn when it begins. */
export function encodeRestoreMark(restore: bigint): Uint8Array {
  return Buffer.from(`${JSON.stringify({ magic: MAGIC, format: FORMAT, restore: restore.toString(16) })}\n`);
}

/** The number of the restore; 0 if the mark does not tell it. Undefined if the value is no mark. */
export function decodeRestoreMark(value: Uint8Array): bigint | undefined {
  let mark: unknown;
  try {
    mark = JSON.parse(Buffer.from(value).toString());
  } catch {
    return undefined;
  }
  if (typeof mark !== 'object' || mark === null || !('magic' in mark) || mark.magic !== MAGIC) return undefined;
  const restore = 'restore' in mark ? mark.restore : undefined;
  return typeof restore === 'string' && /^[\da-f]{1,16}$/.test(restore) ? BigInt(`0x${restore}`) : 0n;
}
