import type {
  ConfChange,
  ConfState,
  Entry,
  Message,
  NodeStatus,
  Payload,
  Persist,
  EntryId,
  Ready,
  Snapshot,
} from '@engram/raft-ts';

const text = (bytes: Uint8Array): string => (bytes.length === 0 ? 'empty' : `"${Buffer.from(bytes).toString()}"`);
const at = (index: number, term: number): string => `${index}@${term}`;

export function describeConf({ voters, learners }: ConfState): string {
  const list = (ids: readonly bigint[]): string => ids.join(' ');
  return learners.length === 0 ? `voters ${list(voters)}` : `voters ${list(voters)}, learners ${list(learners)}`;
}

const describeChange = ({ kind, node }: ConfChange): string => `${kind} ${node}`;

function describePayload(payload: Payload): string {
  return payload.kind === 'normal' ? text(payload.data) : describeChange(payload.change);
}

export function describeEntry(entry: Entry): string {
  return `${at(entry.index, entry.term)} ${describePayload(entry)}`;
}

function describeSnapshot({ index, term, conf, data }: Snapshot): string {
  return `${at(index, term)} ${text(data)} (${describeConf(conf)})`;
}

const list = (entries: readonly Entry[]): string => `[${entries.map(describeEntry).join(', ')}]`;

const known = (committed: EntryId): string => `, knows ${at(committed.index, committed.term)} committed`;

export function describeMessage(message: Message): string {
  const term = 'term' in message ? ` term ${message.term}` : '';
  return `${message.from}->${message.to} ${message.type}${term}${details(message)}`;
}

function details(message: Message): string {
  switch (message.type) {
    case 'vote':
    case 'pre-vote':
      return `, log ends at ${at(message.lastIndex, message.lastTerm)}${message.transfer ? ', transfer' : ''}${known(message.committed)}`;
    case 'vote-response':
    case 'pre-vote-response':
      return `, ${message.granted ? 'granted' : 'refused'}${known(message.committed)}`;
    case 'append':
      return `, behind ${at(message.prevIndex, message.prevTerm)}: ${list(message.entries)}, commit ${message.commit}`;
    case 'append-response':
      return message.rejection === undefined
        ? `, has ${message.index}`
        : `, nothing at ${message.index}, perhaps ${at(message.rejection.index, message.rejection.term)}`;
    case 'heartbeat':
      return `, commit ${message.commit}${message.readRound === 0 ? '' : `, reads ${message.readRound}`}`;
    case 'heartbeat-response':
      return message.readRound === 0 ? '' : `, reads ${message.readRound}`;
    case 'snapshot':
      return `, ${describeSnapshot(message.snapshot)}`;
    case 'propose':
      return ` ${message.payloads.map(describePayload).join(', ')}`;
    case 'read-index':
      return ` ${text(message.context)}`;
    case 'read-index-response':
      return `, ${text(message.context)} at ${message.index}`;
    case 'transfer-leader':
      return ` to ${message.target}`;
    case 'timeout-now':
      return '';
  }
}

function describePersist({ hardState, snapshot, entries, mustSync, messages }: Persist): readonly string[] {
  const parts: string[] = [];
  if (hardState !== undefined) {
    const vote = hardState.vote === undefined ? 'no vote' : `vote ${hardState.vote}`;
    parts.push(`term ${hardState.term}, ${vote}, commit ${hardState.commit}`);
  }
  if (snapshot !== undefined) parts.push(`snapshot ${describeSnapshot(snapshot)}`);
  if (entries.length > 0) parts.push(`entries ${list(entries)}`);
  const lines = [`persist${mustSync ? '' : ' (no sync)'}: ${parts.join('; ')}`];
  for (const message of messages) lines.push(`then ${describeMessage(message)}`);
  return lines;
}

export function describeReady(ready: Ready): readonly string[] {
  const lines: string[] = [];
  if (ready.softState !== undefined) {
    const { role, leader } = ready.softState;
    lines.push(`now ${role}, ${leader === undefined ? 'no leader' : `leader ${leader}`}`);
  }
  for (const message of ready.messages) lines.push(`send ${describeMessage(message)}`);
  if (ready.persist !== undefined) lines.push(...describePersist(ready.persist));
  if (ready.committedEntries.length > 0) lines.push(`apply ${list(ready.committedEntries)}`);
  for (const { context, index } of ready.readStates) lines.push(`read ${text(context)} at ${index}`);
  return lines;
}

export function describeStatus(status: NodeStatus): readonly string[] {
  const { id, role, term, vote, leader, lastIndex, commit, applied, conf, followers, transferTarget } = status;
  const lines = [
    `${id}: ${role}, ${leader === undefined ? 'no leader' : `leader ${leader}`}, term ${term}, ${vote === undefined ? 'no vote' : `vote ${vote}`}`,
    `log ends at ${lastIndex}, commit ${commit}, applied ${applied}, ${describeConf(conf)}`,
  ];
  if (transferTarget !== undefined) lines.push(`hands over to ${transferTarget}`);
  for (const [follower, progress] of followers) {
    const { state, match, next, paused, recentlyActive, inflight } = progress;
    const notes = [
      paused ? 'paused' : '',
      recentlyActive ? '' : 'silent',
      inflight === 0 ? '' : `${inflight} in flight`,
    ];
    lines.push(
      [`${follower}: ${state}, match ${match}, next ${next}`, ...notes.filter((note) => note !== '')].join(', '),
    );
  }
  return lines;
}
