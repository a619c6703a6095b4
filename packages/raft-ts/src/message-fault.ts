import type { LogIndex } from './log-index.ts';
import type { AppendResponse, Heartbeat, Message } from './message.ts';
import type { NodeId } from './node-id.ts';
import type { RaftLog } from './raft-log.ts';
import type { RoleState } from './role-state.ts';
import type { Term } from './term.ts';

/** What a message is held against. */
export interface MessageReceiver {
  readonly id: NodeId;
  readonly term: Term;
  readonly role: RoleState;
  readonly log: RaftLog;
}

/** Numbers beyond it would soon be no exact integers any more. A group that elects every second needs 100 million years. */
const NUMBER_MAX = 2 ** 52;
/** A group that elects every second needs 136 years for so many terms. */
const TERMS_AHEAD_MAX = 2 ** 32;

/**
 * Why no node that keeps Raft's rules can have sent this message, whatever was lost, doubled, delayed or reordered. Undefined if
 * one can. A message with a fault would break an invariant here, or make all terms useless, so it must not be taken.
 */
export function faultOf(message: Message, receiver: MessageReceiver): string | undefined {
  if (message.to !== receiver.id) return undefined; // ignored: it is for a node that had this address before
  if (message.from === receiver.id) return 'a message in the name of its receiver';
  if (!('term' in message)) return undefined;
  const { term, role, log } = receiver;
  if (message.term > NUMBER_MAX || message.term - term > TERMS_AHEAD_MAX) return `a term out of reach: ${message.term}`;
  if (message.term < term) return undefined; // answered with the term at most
  switch (message.type) {
    case 'append': {
      const [first] = message.entries;
      const gap = first !== undefined && first.index !== message.prevIndex + 1;
      return gap ? 'entries that do not follow their place' : twoLeaders(message, receiver);
    }
    case 'heartbeat':
      return twoLeaders(message, receiver) ?? commitFault(message, log);
    case 'snapshot': {
      const { index, conf } = message.snapshot;
      if (index > NUMBER_MAX) return `an index out of reach: ${index}`;
      return conf.voters.length === 0 ? 'a snapshot without a voter' : twoLeaders(message, receiver);
    }
    case 'append-response':
      return role.role === 'leader' && message.term === term ? acknowledgementFault(message, log.lastIndex) : undefined;
    case 'timeout-now':
      // The leader sends it to a node that has acknowledged all entries of the leader's term, so the node has that term.
      if (message.term > term) return 'a request to campaign, of a term that this node does not have yet';
      return twoLeaders(message, receiver);
    default:
      return undefined;
  }
}

function twoLeaders({ from, term }: { from: NodeId; term: Term }, receiver: MessageReceiver): string | undefined {
  const { leader } = receiver.role;
  if (term > receiver.term || leader === undefined || leader === from) return undefined;
  return `a second leader in term ${term}`;
}

/** A leader tells only a commit that this node has acknowledged. If that is true, this node has lost a part of its log. */
function commitFault({ commit }: Heartbeat, { lastIndex }: RaftLog): string | undefined {
  if (commit <= lastIndex) return undefined;
  return `entry ${commit} is said to have been acknowledged here, but the log ends at ${lastIndex}`;
}

function acknowledgementFault({ index, rejection }: AppendResponse, lastIndex: LogIndex): string | undefined {
  if (index > lastIndex) return `an answer about entry ${index}, but the log ends at ${lastIndex}`;
  if (rejection !== undefined && rejection.index > index) return 'a rejection that may agree behind what it rejects';
  return undefined;
}
