import { type KeyRange, pointRange, prefixRange, utf8 } from '@engram/core';
import { badArguments, CtlError } from '../cli/ctl-error.ts';
import type { Flags, FlagSpec } from '../cli/flags.ts';
import { calls } from '../client/calls.ts';
import type { EtcdClient } from '../client/etcd-client.ts';
import { isCompacted } from '../client/range-pages.ts';
import { isRpcError } from '../client/rpc-error.ts';
import { watchHistory } from '../client/watch-history.ts';

export const prefixFlag: FlagSpec = {
  name: 'prefix',
  kind: 'bool',
  value: 'false',
  help: 'all keys that begin with KEY; with an empty KEY, all keys',
};
export const valuesFlag: FlagSpec = {
  name: 'values',
  kind: 'bool',
  value: 'false',
  help: 'show how values differ: the fields of JSON, otherwise the sizes',
};

/** Throws CtlError bad-arguments. */
export function rangeOf(key: string, flags: Flags): KeyRange {
  if (flags.bool('prefix')) return prefixRange(utf8(key));
  if (key === '') throw badArguments('KEY is empty: give one, or --prefix for all keys');
  return pointRange(utf8(key));
}

/** A revision as an argument. Throws CtlError bad-arguments. */
export function revisionArgument(text: string, name: string): number {
  const revision = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(revision) && revision >= 1) return revision;
  throw badArguments(`${name} ${JSON.stringify(text)} is no revision: they begin at 1`);
}

/** The newest revision of the store, which all that was acknowledged is in. */
export async function currentRevision(client: EtcdClient, { key }: KeyRange, signal: AbortSignal): Promise<number> {
  const { header } = await client.unary(calls.range, { key, countOnly: true }, signal);
  return header?.revision ?? 0;
}

/** What is said of a read at a revision that is not there: which ones are. Other errors stay as they are. */
export async function explained(
  client: EtcdClient,
  range: KeyRange,
  error: unknown,
  signal: AbortSignal,
): Promise<unknown> {
  if (isRpcError(error, 'OUT_OF_RANGE') && error.message.includes('future revision')) {
    const newest = await currentRevision(client, range, signal);
    return new CtlError('failed', `${error.message}: the store is at ${newest}`, { cause: error });
  }
  if (!isCompacted(error)) return error;
  const newest = await currentRevision(client, range, signal);
  for await (const part of watchHistory(client, { range, from: 1, to: newest, prevKv: false }, signal)) {
    if (part.kind === 'compacted') return compactedError(part.oldest, error);
    break;
  }
  return error;
}

export const compactedError = (oldest: number, cause?: unknown): CtlError =>
  new CtlError(
    'failed',
    `required revision has been compacted: the oldest that is there is ${oldest}`,
    cause === undefined ? {} : { cause },
  );
