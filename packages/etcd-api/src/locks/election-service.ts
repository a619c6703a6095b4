import {
  equalBytes,
  GrpcCode,
  type KeyRange,
  type LeaseId,
  leaseId,
  pointRange,
  putOp,
  type Revision,
  rangeOp,
} from '@engram/core';
import { type Message, type Method, StatusError, v3electionpb } from '@engram/wire';
import type { CallAdmission } from '../call-admission.ts';
import { MessagePump } from '../message-pump.ts';
import type { ServiceParts } from '../service-parts.ts';
import { ClientSteps, methodOfSteps } from './client-steps.ts';
import { createdAt, deletionOf, firstKv, firstOf, lineOf, placeIn, rangeOf, untilFirst } from './line.ts';
import { leaders } from './observe.ts';

const SERVICE = '/v3electionpb.Election';

/** etcd's texts (etcd client/v3/concurrency/election.go, server/etcdserver/api/v3election/election.go). */
const notLeader = (): StatusError => new StatusError(GrpcCode.UNKNOWN, 'election: not leader');
const noLeader = (): StatusError => new StatusError(GrpcCode.UNKNOWN, 'election: no leader');
const noLeaderField = (): StatusError => new StatusError(GrpcCode.UNKNOWN, '"leader" field must be provided');

/** etcd's elections, over the same keys as its locks: the value of a key is what its candidate says. */
export function electionMethods(parts: ServiceParts, admission: CallAdmission): readonly (readonly [string, Method])[] {
  const unary = methodOfSteps(parts, admission);
  return [
    [`${SERVICE}/Campaign`, unary(v3electionpb.decodeCampaignRequest, campaign)],
    [`${SERVICE}/Proclaim`, unary(v3electionpb.decodeProclaimRequest, proclaim)],
    [`${SERVICE}/Leader`, unary(v3electionpb.decodeLeaderRequest, leader)],
    [`${SERVICE}/Resign`, unary(v3electionpb.decodeResignRequest, resign)],
    [
      `${SERVICE}/Observe`,
      admission.serverStream((request, call) => {
        const { name } = v3electionpb.decodeLeaderRequest(request);
        const line = lineOf(name);
        return new MessagePump(call, parts, (signal) => leaders(new ClientSteps(parts, call, signal), line));
      }),
    ],
  ];
}

async function campaign(steps: ClientSteps, request: v3electionpb.CampaignRequest): Promise<Message> {
  const lease = request.lease === 0n ? await steps.grantLease() : leaseId(request.lease);
  const line = lineOf(request.name);
  const candidate = await stand(steps, line, lease, request.value);
  return await electedInTurn(steps, line, candidate);
}

/** The key of a lease that would lead. */
interface Candidate {
  readonly lease: LeaseId;
  readonly key: Uint8Array;
  readonly created: number;
  /** The store's when the candidate stood. */
  readonly header: ReturnType<ClientSteps['header']>;
}

/** A lease that has its key already keeps its place, and says what it says now. */
async function stand(steps: ClientSteps, line: KeyRange, lease: LeaseId, value: Uint8Array): Promise<Candidate> {
  const key = placeIn(line, lease);
  const { succeeded, revision, responses } = await steps.write({
    compares: [createdAt(key, 0)],
    success: [putOp(key, value, { lease })],
    failure: [rangeOp(pointRange(key))],
  });
  const before = succeeded ? undefined : firstKv(rangeOf(responses[0]).kvs);
  const created = before?.createRevision ?? revision;
  if (before !== undefined && !equalBytes(before.value, value)) await say(steps, { key, created, lease }, value);
  return { lease, key, created, header: steps.header(revision) };
}

/**
 * A call that ends while it waits takes its key away; after any other failure the key stays, as in etcd. What is stricter than etcd: a
 * candidate whose lease has ended meanwhile leads nothing, and is told so.
 */
async function electedInTurn(
  steps: ClientSteps,
  line: KeyRange,
  { lease, key, created, header }: Candidate,
): Promise<Message> {
  const name = line.key.subarray(0, -1);
  using cutOff = steps.whenCutOff(deletionOf(key, [createdAt(key, created)]));
  try {
    if (await untilFirst(steps, line, created, key.length)) {
      const own = firstKv((await steps.read(rangeOp(pointRange(key)))).kvs);
      if (own?.createRevision !== created) throw notLeader();
    }
  } finally {
    if (cutOff.happened) await cutOff.clear();
  }
  return v3electionpb.encodeCampaignResponse({ header, leader: { name, key, rev: created, lease } });
}

async function proclaim(steps: ClientSteps, request: v3electionpb.ProclaimRequest): Promise<Message> {
  const { leader: of, value } = request;
  if (of === undefined) throw noLeaderField();
  const lease = of.lease === 0n ? await steps.grantLease() : leaseId(of.lease);
  const revision = await say(steps, { key: of.key, created: of.rev, lease }, value);
  return v3electionpb.encodeProclaimResponse({ header: steps.header(revision) });
}

/** Puts a value into the key that was created then, and into no later one. Error: not leader. */
async function say(
  steps: ClientSteps,
  { key, created, lease }: Pick<Candidate, 'key' | 'created' | 'lease'>,
  value: Uint8Array,
): Promise<Revision> {
  const { succeeded, revision } = await steps.write({
    compares: [createdAt(key, created)],
    success: [putOp(key, value, { lease })],
    failure: [],
  });
  if (!succeeded) throw notLeader();
  return revision;
}

/** One that leads no more has nothing to give back. */
async function resign(steps: ClientSteps, { leader: of }: v3electionpb.ResignRequest): Promise<Message> {
  if (of === undefined) throw noLeaderField();
  if (of.lease === 0n) await steps.grantLease();
  const { revision } = await steps.write(deletionOf(of.key, [createdAt(of.key, of.rev)]));
  return v3electionpb.encodeResignResponse({ header: steps.header(revision) });
}

async function leader(steps: ClientSteps, { name }: v3electionpb.LeaderRequest): Promise<Message> {
  const { kvs, revision } = await steps.read(firstOf(lineOf(name)));
  const kv = firstKv(kvs);
  if (kv === undefined) throw noLeader();
  return v3electionpb.encodeLeaderResponse({ header: steps.header(revision), kv });
}
