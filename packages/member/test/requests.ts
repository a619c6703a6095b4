import { nodeItself, type Store } from '@engram/backend';
import { decodeKeyValue } from '@engram/coder';
import { EMPTY_BYTES, keyBytes, leaseId, putOp, type RangeOp, rangeOp, type Txn } from '@engram/core';

export const put = (key: string, value: string, lease = 0n): Txn => ({
  compares: [],
  success: [putOp(keyBytes(key), keyBytes(value), { lease: leaseId(lease) })],
  failure: [],
});

export const rangeOf = (key: string, serializable: boolean): RangeOp =>
  rangeOp({ key: keyBytes(key), end: EMPTY_BYTES }, { serializable });

export async function get(store: Store, key: string, serializable = false): Promise<string | undefined> {
  const { kvs } = await store.range(rangeOf(key, serializable), nodeItself);
  const [kv] = [...kvs];
  return kv === undefined ? undefined : Buffer.from(decodeKeyValue(kv).value).toString();
}
