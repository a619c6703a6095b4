import type { OpResult, TxnResult } from '@engram/backend';
import { decodeKeyValue, decodeRecord } from '@engram/coder';
import { EMPTY_BYTES, EVENT_PUT, isEngramError, type KvEvent, keyText } from '@engram/core';
import type { KeyIndex } from '@engram/index';
import { plainKv } from '../harness.ts';

/** A record of the log. */
export function describeRecord(bytes: Uint8Array): string {
  const record = decodeRecord(bytes);
  switch (record.kind) {
    case 'put': {
      const { key, value, modRevision, lease } = decodeKeyValue(record.kv);
      return `put ${keyText(key)} ${keyText(value)} in ${modRevision}${lease === 0n ? '' : `, lease ${lease}`}`;
    }
    case 'delete': {
      const { key, modRevision } = decodeKeyValue(record.kv);
      return `delete ${keyText(key)} in ${modRevision}`;
    }
    case 'lease-grant':
    case 'lease-revoke':
      return `${record.kind} ${record.id}`;
    case 'compact':
      return `compact ${record.revision}`;
    case 'origin':
      return `origin ${record.memberId}/${record.sequence}`;
    default:
      return record.kind;
  }
}

/** What a watcher gets. */
export function describeEvent({ type, kv, prevKv }: KvEvent): string {
  const { key, value } = plainKv(kv);
  const before = prevKv === undefined ? '' : `, before it ${plainKv(prevKv).value}`;
  return `${type === EVENT_PUT ? `put ${key} ${value}` : `delete ${key}`}${before}`;
}

/** The answer of a transaction. */
export function describeTxn({ revision, responses, succeeded }: TxnResult): string {
  const answers = responses.map(describeOp).filter((text) => text !== '');
  return [`revision ${revision}${succeeded ? '' : ', else'}`, ...answers].join('; ');
}

function describeOp(result: OpResult): string {
  switch (result.kind) {
    case 'put':
      return result.prevKv === undefined ? '' : `before it ${plainKv(result.prevKv).value}`;
    case 'delete-range':
      return `${result.deleted} deleted`;
    case 'range':
      return [...result.kvs].map((kv) => `${plainKv(kv).key} is ${plainKv(kv).value}`).join(', ') || 'nothing';
    case 'txn':
      return `(${describeTxn(result)})`;
  }
}

/** What a client hears of a failed call. */
export const describeError = (error: unknown): string => (isEngramError(error) ? error.code : String(error));

/** The newest version of each key, durable or not. */
export function describeIndex(index: KeyIndex): readonly string[] {
  const keys: string[] = [];
  index.walk(EMPTY_BYTES, Number.POSITIVE_INFINITY, (key, head) => {
    const what = index.isTombstone(head) ? 'deleted' : 'put';
    keys.push(`  ${keyText(key)} ${what} in ${index.modRevision(head)}, version ${index.version(head)}`);
  });
  return keys;
}
