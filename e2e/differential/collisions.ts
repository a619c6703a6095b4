import type { Fields, Value } from './messages.ts';

interface Change {
  readonly key: string;
  /** The end of a delete's range. Undefined deletes one key. */
  readonly end?: string;
  readonly depth: number;
}

/**
 * Whether etcd accepts this transaction and the store refuses it. etcd does not check a delete to the end of all keys
 * (range_end "\0"), or a nested delete after the put of another nested transaction (server/etcdserver/api/v3rpc/key.go:
 * checkIntervals). It then gives a key two changes in one revision.
 */
export function covers(txn: Fields): boolean {
  const puts: Change[] = [];
  const deletes: Change[] = [];
  collect(txn, 0, puts, deletes);
  return deletes.some(
    ({ key, end, depth }) =>
      (end === '\0' || depth > 0) &&
      puts.some((put) => key <= put.key && (end === '\0' || put.key < (end ?? `${key}\0`))),
  );
}

function collect(txn: Fields, depth: number, puts: Change[], deletes: Change[]): void {
  for (const op of [...listOf(txn['success']), ...listOf(txn['failure'])]) {
    const { requestPut, requestDeleteRange, requestTxn } = op;
    if (requestPut !== undefined) puts.push({ key: text(fieldsOf(requestPut)['key']), depth });
    if (requestDeleteRange !== undefined) {
      const { key, rangeEnd } = fieldsOf(requestDeleteRange);
      const end = text(rangeEnd);
      deletes.push({ key: text(key), depth, ...(end === '' ? {} : { end }) });
    }
    if (requestTxn !== undefined) collect(fieldsOf(requestTxn), depth + 1, puts, deletes);
  }
}

const text = (value: Value | undefined): string => (typeof value === 'string' ? value : '');
const fieldsOf = (value: Value): Fields => value as Fields;
const listOf = (value: Value | undefined): readonly Fields[] => (Array.isArray(value) ? value : []);
