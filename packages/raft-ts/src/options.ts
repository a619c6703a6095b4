import type { Random } from '@engram/core';
import type { NodeId } from './node-id.ts';
import { RaftError } from './raft-error.ts';

/** Bounds and times of a node. Times are in ticks; the owner calls `RawNode.tick` at equal intervals. */
export interface RaftOptions {
  readonly id: NodeId;
  /** The source of election timeouts, uniform in [electionTicks, 2 * electionTicks). Each node has its own. */
  readonly random: Random;
  /** A follower campaigns if it hears from no leader for at least this long. Usually ten times `heartbeatTicks`. */
  readonly electionTicks: number;
  readonly heartbeatTicks: number;
  /** First asks for votes without raising the term, so that a node that was cut off deposes no leader (thesis, 9.6). */
  readonly preVote: boolean;
  /** A leader without a majority steps down, and followers that hear from a leader give no vote (thesis, 6.2, 6.4.1). */
  readonly checkQuorum: boolean;
  /** Bound on the entries in one append, as `entryBytes` counts. A larger entry travels alone. */
  readonly messageBytesMax: number;
  /** Bound on the unanswered appends to one follower. */
  readonly inflightMessagesMax: number;
  /** Bound on the entries in these appends, as `entryBytes` counts. At least `messageBytesMax`. */
  readonly inflightBytesMax: number;
  /** Bound on the application's bytes in a leader's log that are not committed. Proposals beyond it are dropped. */
  readonly uncommittedBytesMax: number;
  /** Bound on the committed entries that are handed out and not applied, as `entryBytes` counts. */
  readonly applyingBytesMax: number;
  /** Bound on the reads that wait for a round at a leader. Reads beyond it are dropped. */
  readonly waitingReadsMax: number;
}

export type RaftLimits = Omit<RaftOptions, 'id' | 'random'>;

export const defaultLimits: RaftLimits = {
  electionTicks: 10,
  heartbeatTicks: 1,
  preVote: true,
  checkQuorum: true,
  messageBytesMax: 1 << 20,
  inflightMessagesMax: 256,
  inflightBytesMax: 16 << 20,
  uncommittedBytesMax: 64 << 20,
  applyingBytesMax: 16 << 20,
  waitingReadsMax: 4096,
};

export function checkOptions(options: RaftOptions): void {
  const { id, electionTicks, heartbeatTicks, messageBytesMax, inflightBytesMax } = options;
  if (id < 1n || id >= 1n << 64n) throw new RaftError('bad-options', `node id ${id} is not from 1 to 2^64 - 1`);
  const positive = [
    'heartbeatTicks',
    'messageBytesMax',
    'inflightMessagesMax',
    'uncommittedBytesMax',
    'applyingBytesMax',
    'waitingReadsMax',
  ] as const;
  for (const name of positive) {
    const value = options[name];
    if (!Number.isSafeInteger(value) || value < 1) throw new RaftError('bad-options', `${name} is ${value}`);
  }
  if (!Number.isSafeInteger(electionTicks) || electionTicks <= heartbeatTicks) {
    throw new RaftError(
      'bad-options',
      `electionTicks (${electionTicks}) must be above heartbeatTicks (${heartbeatTicks})`,
    );
  }
  if (inflightBytesMax < messageBytesMax) {
    throw new RaftError(
      'bad-options',
      `inflightBytesMax (${inflightBytesMax}) must hold a message (${messageBytesMax})`,
    );
  }
}
