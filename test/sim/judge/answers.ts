import type { OpResult } from '@engram/backend';
import { decodeKeyValue } from '@engram/coder';
import { compareBytes, keyText } from '@engram/core';
import type { ModelKv, ModelResponse } from '@engram/sim/model';

/** Whether an encoded mvccpb.KeyValue is this version. */
export function isVersion(bytes: Uint8Array, expected: ModelKv): boolean {
  const kv = decodeKeyValue(bytes);
  return (
    keyText(kv.key) === expected.key &&
    keyText(kv.value) === expected.value &&
    kv.createRevision === expected.create &&
    kv.modRevision === expected.mod &&
    kv.version === expected.version &&
    kv.lease === expected.lease
  );
}

export const sameBytes = (left: Uint8Array, right: Uint8Array): boolean => compareBytes(left, right) === 0;

/** The first difference between the answer and the model; undefined if there is none. */
export function difference(actual: OpResult, expected: ModelResponse, path = ''): string | undefined {
  if (actual.kind !== expected.kind) return `${path} is a ${actual.kind}, not a ${expected.kind}`;
  if (actual.revision !== expected.revision)
    return `${path} header revision ${actual.revision}, not ${expected.revision}`;
  switch (actual.kind) {
    case 'range':
      if (expected.kind !== 'range') return path;
      if (actual.count !== expected.count) return `${path} count ${actual.count}, not ${expected.count}`;
      if (actual.more !== expected.more) return `${path} more ${actual.more}, not ${expected.more}`;
      return listDifference([...actual.kvs], expected.kvs, `${path} kvs`);
    case 'put':
      if (expected.kind !== 'put') return path;
      return listDifference(toList(actual.prevKv), toList(expected.prev), `${path} prev_kv`);
    case 'delete-range':
      if (expected.kind !== 'delete-range') return path;
      if (actual.deleted !== expected.deleted) return `${path} deleted ${actual.deleted}, not ${expected.deleted}`;
      return listDifference([...actual.prevKvs], expected.prev, `${path} prev_kvs`);
    case 'txn': {
      if (expected.kind !== 'txn') return path;
      if (actual.succeeded !== expected.succeeded) return `${path} succeeded ${actual.succeeded}`;
      if (actual.responses.length !== expected.responses.length)
        return `${path} ${actual.responses.length} responses, not ${expected.responses.length}`;
      for (const [at, response] of actual.responses.entries()) {
        const found = difference(response, expected.responses[at]!, `${path}/${at}`);
        if (found !== undefined) return found;
      }
      return undefined;
    }
  }
}

const toList = <Item>(item: Item | undefined): readonly Item[] => (item === undefined ? [] : [item]);

export function listDifference(
  actual: readonly Uint8Array[],
  expected: readonly ModelKv[],
  path: string,
): string | undefined {
  const same = actual.length === expected.length && actual.every((bytes, at) => isVersion(bytes, expected[at]!));
  return same ? undefined : `${path} [${actual.map(textOfBytes)}], not [${expected.map(textOfKv)}]`;
}

/** Whether the result has a put, or a deletion of an existing key. A transaction with one has a revision of its own. */
export function claimsEffect(result: OpResult): boolean {
  switch (result.kind) {
    case 'range':
      return false;
    case 'put':
      return true;
    case 'delete-range':
      return result.deleted > 0;
    case 'txn':
      return result.responses.some(claimsEffect);
  }
}

export function textOfKv({ key, value, mod, version, lease }: ModelKv): string {
  return `${JSON.stringify(key)}=${shorten(value)}@${mod}v${version}${lease === 0n ? '' : `L${lease}`}`;
}

export function textOfBytes(bytes: Uint8Array): string {
  const kv = decodeKeyValue(bytes);
  return textOfKv({
    key: keyText(kv.key),
    value: keyText(kv.value),
    create: kv.createRevision,
    mod: kv.modRevision,
    version: kv.version,
    lease: kv.lease,
  });
}

const shorten = (value: string): string => value.replace(/x{4,}$/, (run) => `x*${run.length}`);
