import {
  assert,
  EMPTY_BYTES,
  GrpcCode,
  type KeyRange,
  type LeaseId,
  leaseId,
  pointRange,
  putOp,
  type Revision,
  rangeOp,
} from '@engram/core';
import { type Message, type Method, StatusError, v3lockpb } from '@engram/wire';
import type { CallAdmission } from '../call-admission.ts';
import type { ServiceParts } from '../service-parts.ts';
import { type ClientSteps, methodOfSteps } from './client-steps.ts';
import { createdAt, deletionOf, firstKv, firstOf, lineOf, placeIn, rangeOf, untilFirst } from './line.ts';

const SERVICE = '/v3lockpb.Lock';

/** etcd's locks (etcd server/etcdserver/api/v3lock/lock.go, client/v3/concurrency/mutex.go). */
export function lockMethods(parts: ServiceParts, admission: CallAdmission): readonly (readonly [string, Method])[] {
  const unary = methodOfSteps(parts, admission);
  return [
    [`${SERVICE}/Lock`, unary(v3lockpb.decodeLockRequest, lock)],
    [`${SERVICE}/Unlock`, unary(v3lockpb.decodeUnlockRequest, unlock)],
  ];
}

async function lock(steps: ClientSteps, { name, lease }: v3lockpb.LockRequest): Promise<Message> {
  return await lockFor(steps, lineOf(name), lease === 0n ? await steps.grantLease() : leaseId(lease));
}

/** A lease that has its key in the line already keeps its place, and the lock if it has it. */
async function lockFor(steps: ClientSteps, line: KeyRange, lease: LeaseId): Promise<Message> {
  const key = placeIn(line, lease);
  const { succeeded, revision, responses } = await steps.write({
    compares: [createdAt(key, 0)],
    success: [putOp(key, EMPTY_BYTES, { lease }), firstOf(line)],
    failure: [rangeOp(pointRange(key)), firstOf(line)],
  });
  const [own, first] = responses;
  const created = succeeded ? revision : firstKv(rangeOf(own).kvs)?.createRevision;
  assert(created !== undefined, 'a key that is there and is not');
  const holder = firstKv(rangeOf(first).kvs);
  if (holder === undefined || holder.createRevision === created) return locked(steps, key, revision);
  return await lockInTurn(steps, line, key, created);
}

/**
 * Whatever ends the wait before the lock is there takes the key away. What is stricter than etcd: a key that was made anew meanwhile has
 * another place in the line, so it is not this call's.
 */
async function lockInTurn(steps: ClientSteps, line: KeyRange, key: Uint8Array, created: number): Promise<Message> {
  using cutOff = steps.whenCutOff(deletionOf(key));
  try {
    await untilFirst(steps, line, created, key.length);
    const { kvs, revision } = await steps.read(rangeOp(pointRange(key)));
    if (firstKv(kvs)?.createRevision === created && !cutOff.happened) return locked(steps, key, revision);
  } catch (error) {
    await cutOff.clear();
    throw error;
  }
  if (cutOff.happened) await cutOff.clear();
  throw new StatusError(GrpcCode.UNKNOWN, 'mutex: session is expired');
}

const locked = (steps: ClientSteps, key: Uint8Array, revision: Revision): Message =>
  v3lockpb.encodeLockResponse({ header: steps.header(revision), key });

/** A delete: it asks for no lock, and finds none without an error. */
async function unlock(steps: ClientSteps, { key }: v3lockpb.UnlockRequest): Promise<Message> {
  const { revision } = await steps.write(deletionOf(key));
  return v3lockpb.encodeUnlockResponse({ header: steps.header(revision) });
}
