import { ALL_KEYS, type EtcdClient } from '../../test/support/etcd-client.ts';
import type { etcdserverpb, Init } from '@engram/wire';

/** A key's version after a write. Keys and values are strings with one character for each byte. */
export interface Version {
  readonly value: string;
  readonly createRevision: number;
  readonly modRevision: number;
  readonly version: number;
  readonly lease: bigint;
}

export type State = ReadonlyMap<string, Version>;

/** One change of one key. `after` is undefined for a deletion. */
export interface Change {
  readonly key: string;
  readonly after: Version | undefined;
}

export type Step =
  | { readonly kind: 'put'; readonly key: string; readonly value: string; readonly lease: bigint }
  /** Without `rangeEnd`, deletes one key. */
  | { readonly kind: 'delete'; readonly key: string; readonly rangeEnd?: string };

/** A write in one request. The keys of the steps of one branch are distinct, as etcd requires. */
export type Write =
  | { readonly kind: 'step'; readonly step: Step }
  | {
      readonly kind: 'txn';
      /** The transaction succeeds if this key was last changed at this revision. 0 requires that the key does not exist. */
      readonly guard: { readonly key: string; readonly modRevision: number };
      readonly success: readonly Step[];
      readonly failure: readonly Step[];
    }
  /** Deletes every key of the lease: a revoke or an expiry. */
  | { readonly kind: 'lease-end'; readonly lease: bigint };

/** The answer to a write that succeeded. */
export interface Answer {
  readonly revision: number;
  /** Whether the write changed a key. Only then is `revision` its own. */
  readonly changed: boolean;
  readonly succeeded?: boolean;
  /** The previous values, if the write requested them. For a single step only. */
  readonly previous?: readonly string[];
}

const inStep = (key: string, step: Step): boolean =>
  step.kind === 'delete' && step.rangeEnd !== undefined ? key >= step.key && key < step.rangeEnd : key === step.key;

const sortedKeys = (state: State, wanted: (key: string, version: Version) => boolean): string[] =>
  [...state]
    .filter(([key, version]) => wanted(key, version))
    .map(([key]) => key)
    .sort();

/** The steps that a write runs on this state, which for a transaction are one branch. */
export function branch(write: Write, state: State): { readonly succeeded: boolean; readonly steps: readonly Step[] } {
  switch (write.kind) {
    case 'step':
      return { succeeded: true, steps: [write.step] };
    case 'txn': {
      const succeeded = (state.get(write.guard.key)?.modRevision ?? 0) === write.guard.modRevision;
      return { succeeded, steps: succeeded ? write.success : write.failure };
    }
    case 'lease-end':
      return {
        succeeded: true,
        steps: sortedKeys(state, (_key, { lease }) => lease === write.lease).map((key) => ({ kind: 'delete', key })),
      };
  }
}

/** The changes of a write on this state at this revision, in etcd's order. A write without changes takes no revision. */
export function effect(write: Write, state: State, revision: number): readonly Change[] {
  const changes: Change[] = [];
  for (const step of branch(write, state).steps) {
    if (step.kind === 'delete') {
      for (const key of sortedKeys(state, (key) => inStep(key, step))) changes.push({ key, after: undefined });
      continue;
    }
    const before = state.get(step.key);
    changes.push({
      key: step.key,
      after: {
        value: step.value,
        createRevision: before?.createRevision ?? revision,
        modRevision: revision,
        version: (before?.version ?? 0) + 1,
        lease: step.lease,
      },
    });
  }
  return changes;
}

const bytes = (text: string): Uint8Array => Buffer.from(text, 'latin1');
const text = (value: Uint8Array): string => Buffer.from(value).toString('latin1');

const requestOp = (step: Step): Init<etcdserverpb.RequestOp> =>
  step.kind === 'put'
    ? { requestPut: { key: bytes(step.key), value: bytes(step.value), lease: step.lease } }
    : { requestDeleteRange: { key: bytes(step.key), rangeEnd: bytes(step.rangeEnd ?? '') } };

const MOD = 2;

/** Sends a write with etcd's method for it. Rejects with EtcdError. */
export async function send(client: EtcdClient, write: Write): Promise<Answer> {
  if (write.kind === 'lease-end') {
    const { header } = await client.leaseRevoke({ ID: write.lease });
    // The answer does not say whether keys were deleted.
    return { revision: header?.revision ?? 0, changed: false };
  }
  if (write.kind === 'txn') {
    const { header, succeeded, responses } = await client.txn({
      compare: [{ target: MOD, key: bytes(write.guard.key), modRevision: write.guard.modRevision }],
      success: write.success.map(requestOp),
      failure: write.failure.map(requestOp),
    });
    const changed = responses.some(
      ({ responsePut, responseDeleteRange }) => responsePut !== undefined || (responseDeleteRange?.deleted ?? 0) > 0,
    );
    return { revision: header?.revision ?? 0, changed, succeeded };
  }
  const { step } = write;
  if (step.kind === 'put') {
    const { header, prevKv } = await client.put({ ...requestOp(step).requestPut, prevKv: true });
    return {
      revision: header?.revision ?? 0,
      changed: true,
      previous: prevKv === undefined ? [] : [text(prevKv.value)],
    };
  }
  const { header, deleted, prevKvs } = await client.deleteRange({
    ...requestOp(step).requestDeleteRange,
    prevKv: true,
  });
  return {
    revision: header?.revision ?? 0,
    changed: deleted > 0,
    previous: prevKvs.map(({ value }) => text(value)),
  };
}

/** All keys at a revision. Rejects with EtcdError. */
export async function readState(client: EtcdClient, revision: number): Promise<State> {
  const { kvs } = await client.range({ ...ALL_KEYS, revision });
  return new Map(
    kvs.map(({ key, value, createRevision, modRevision, version, lease }) => [
      text(key),
      { value: text(value), createRevision, modRevision, version, lease },
    ]),
  );
}
