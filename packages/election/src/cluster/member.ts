import { type NodeId, nodeId } from '@engram/raft-ts';

/** A member's id is also its node's id in Raft. It stays the same from the member's first start to its removal. */
export type MemberId = NodeId;
export const memberId = (value: bigint): MemberId => nodeId(value);

/** etcd's member (api/membership/member.go). */
export interface Member {
  readonly id: MemberId;
  /** Empty if the member has been added and has never started. */
  readonly name: string;
  /** Sorted, at least one. */
  readonly peerUrls: readonly string[];
  readonly clientUrls: readonly string[];
  readonly isLearner: boolean;
}

export const hasStarted = (member: Member): boolean => member.name !== '';

export const byId = (one: Member, other: Member): number => (one.id < other.id ? -1 : one.id > other.id ? 1 : 0);

/** A member's or cluster's id as etcd shows it. */
export const hex = (id: bigint): string => id.toString(16);

/** Whether two lists have the same URLs in the same order. */
export const sameUrls = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((url, at) => url === other[at]);
