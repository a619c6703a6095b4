import type { Entry, LogIndex, Message, Payload, Term } from '@engram/raft-ts';
import { type ClusterState, memberOf } from './cluster/cluster-state.ts';
import { decodeClusterState, decodeCommand, decodeMemberChange } from './codec/cluster-codec.ts';
import { ElectionError } from './election-error.ts';
import type { MemberId } from './cluster/member.ts';
import type { ElectionOptions } from './options.ts';
import type { PeerMessage } from './peer-message.ts';

/** The member that a message comes from, as the transport knows it. */
export interface Speaker {
  readonly member: MemberId;
  /** The message came over a connection that this member has made, to an address that the member list has. */
  readonly dialed: boolean;
}

export interface MessageReceiver {
  readonly self: MemberId;
  readonly clusterId: bigint;
  readonly state: ClusterState;
  readonly term: Term;
  /** The leader that this member follows. It may be one that was removed, until another one leads. */
  readonly leader: MemberId | undefined;
  /** The member has asked whether it was removed, or is about to. */
  readonly mayBeRemoved: boolean;
  /** See `ElectionOptions`. */
  readonly isGivenMember?: ElectionOptions['isGivenMember'];
  /** Entries that the operator has told this member to skip. */
  readonly skippedEntries: ReadonlySet<LogIndex>;
}

/** How the member list of this member has another one. */
export type Standing = 'member' | 'removed' | 'unknown';

/** A member that joins has no list yet. As long as it has none, the members are those that it was told of at its start. */
export function standingOf(
  id: MemberId,
  { state, leader, isGivenMember }: Pick<MessageReceiver, 'state' | 'leader' | 'isGivenMember'>,
): Standing {
  if (id === leader || memberOf(state, id) !== undefined) return 'member';
  if (state.members.length === 0 && isGivenMember?.(id) === true) return 'member';
  return state.removed.includes(id) ? 'removed' : 'unknown';
}

/** The bytes of what a member says of itself: its name and its client URLs. */
const ATTRIBUTES_BYTES_MAX = 64 * 1024;

/** Why the message is not taken from this speaker. Undefined: it may be. It has changed nothing yet in either case. */
export function faultOf(message: PeerMessage, speaker: Speaker, receiver: MessageReceiver): string | undefined {
  const { self, clusterId } = receiver;
  if (message.clusterId !== clusterId) return `a message of cluster ${message.clusterId.toString(16)}`;
  if (message.kind === 'removed') {
    if (message.to !== self) return 'the dismissal of another member';
    if (!speaker.dialed) return 'a dismissal by who was not dialed';
    // Only who has asked is answered, by a question or by a request for votes. Any member could tell the others.
    return receiver.leader === undefined || receiver.mayBeRemoved
      ? undefined
      : 'a dismissal of a member that has a leader';
  }
  const { from, to } = message.kind === 'leaving' ? message : message.message;
  if (from !== speaker.member) return `a message in the name of ${from.toString(16)}`;
  if (message.kind === 'leaving') return to === self ? undefined : 'a question to another member';
  return (
    standingFault(message.message, standingOf(from, receiver), receiver) ??
    contentFault(message.message, speaker, receiver)
  );
}

/**
 * A removed member may ask for votes: it does not know of its removal yet, and learns of it. One that led learns from the answer
 * to a message of its old term that another member leads. Who is not in the list may ask for votes as well: the list may lack the
 * newest voter, and its vote may be the one that is missing. It may have won: then a member without a leader takes what it sends
 * as the leader, since nobody else can bring the list up to date (etcd: rafthttp.addRemoteFromRequest).
 */
function standingFault(message: Message, standing: Standing, receiver: MessageReceiver): string | undefined {
  if (standing === 'member') return undefined;
  const asks = message.type === 'vote' || message.type === 'pre-vote';
  if (standing === 'removed' && (asks || isOfEarlierLeader(message, receiver.term))) return undefined;
  if (standing === 'unknown' && asks && !message.transfer) return undefined;
  if (standing === 'unknown' && isOfLeader(message) && mayLackLeader(receiver)) return undefined;
  return standing === 'removed' ? 'a message of a removed member' : 'a message of a member that is not in the list';
}

const isOfLeader = ({ type }: Message): boolean => type === 'heartbeat' || type === 'append' || type === 'snapshot';

/** A member that joins takes its first list only from those that it was told of. */
const mayLackLeader = ({ leader, state }: MessageReceiver): boolean => leader === undefined && state.members.length > 0;

const isOfEarlierLeader = (message: Message, term: Term): boolean =>
  (message.type === 'heartbeat' || message.type === 'append') && message.term < term;

function contentFault(message: Message, speaker: Speaker, { clusterId, skippedEntries }: MessageReceiver) {
  switch (message.type) {
    case 'read-index':
    case 'read-index-response':
    case 'transfer-leader':
      return `${message.type}, which no member sends`;
    case 'propose':
      return message.payloads
        .map((payload) => proposalFault(payload, speaker.member))
        .find((fault) => fault !== undefined);
    case 'append':
      return message.entries.map((entry) => entryFault(entry, skippedEntries)).find((fault) => fault !== undefined);
    case 'snapshot':
      return refused(() => {
        const { clusterId: of } = decodeClusterState(message.snapshot.data);
        return of === clusterId ? undefined : 'a snapshot of another cluster';
      });
    default:
      return undefined;
  }
}

/** Only what a member says of itself is proposed by others than the leader. */
function proposalFault(payload: Payload, from: MemberId): string | undefined {
  if (payload.kind !== 'normal') return 'a change of the membership, proposed beside the leader';
  if (payload.data.length > ATTRIBUTES_BYTES_MAX) return 'a proposal that is too long';
  return refused(() => {
    const command = decodeCommand(payload.data);
    return command.kind === 'attributes' && command.member === from
      ? undefined
      : 'a proposal of something else than the own attributes';
  });
}

/** The entry is read as it will be when it is applied: then it is too late to refuse it. */
function entryFault(entry: Entry, skipped: ReadonlySet<LogIndex>): string | undefined {
  if (skipped.has(entry.index)) return undefined;
  return refused(() => {
    if (entry.kind === 'conf-change') decodeMemberChange(entry.change.context);
    else if (entry.data.length > 0) decodeCommand(entry.data);
    return undefined;
  });
}

function refused(check: () => string | undefined): string | undefined {
  try {
    return check();
  } catch (error) {
    if (error instanceof ElectionError) return error.message;
    throw error;
  }
}
