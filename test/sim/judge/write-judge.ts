import type { ErrorCode, Txn } from '@engram/core';
import { evaluateTxn, type LoggedWrite, type ModelChange, type StoreHistory } from '@engram/sim/model';
import { Finding } from './finding.ts';
import { assign } from './matching.ts';

/** A write of which nobody was told whether it happened. */
export interface UnknownWrite {
  readonly what: string;
  /** What may be in the log of it begins here or later. */
  readonly from: number;
  /** When it was asked for, on the node's clock. */
  readonly startMs: number;
  /** Whether this is what it has written. */
  explains(write: LoggedWrite): boolean;
}

/**
 * Everything in the log must be there because somebody asked for it, once. A write that was answered is explained by its
 * call; the others by calls of which nobody knows what became of them, each by another one.
 */
export class WriteJudge {
  readonly #history: StoreHistory;
  readonly #unexplained = new Map<number, LoggedWrite>();
  readonly #unknown: UnknownWrite[] = [];
  /** What was settled so far: each call explains one write at most. */
  readonly #explainedBy = new Map<UnknownWrite, LoggedWrite>();

  constructor(history: StoreHistory) {
    this.#history = history;
  }

  logged(write: LoggedWrite): void {
    this.#unexplained.set(write.position, write);
  }

  /** False: it is explained already. */
  explain(write: LoggedWrite): boolean {
    return this.#unexplained.delete(write.position);
  }

  isUnexplained(write: LoggedWrite): boolean {
    return this.#unexplained.has(write.position);
  }

  /** From here on, in the order of the log: what nobody has been answered for. */
  unexplained(from: number): readonly LoggedWrite[] {
    return [...this.#unexplained.values()].filter(({ position }) => position >= from);
  }

  unknown(write: UnknownWrite): void {
    this.#unknown.push(write);
  }

  /** The first that was asked for without an answer and may explain it. */
  unknownFor(write: LoggedWrite): UnknownWrite | undefined {
    return this.#unknownOf(write).find((unknown) => !this.#explainedBy.has(unknown));
  }

  #unknownOf(write: LoggedWrite): readonly UnknownWrite[] {
    return this.#unknown.filter((unknown) => unknown.from <= write.position && unknown.explains(write));
  }

  /**
   * Finds for each write that is left a call of its own. What calls have been told that their time is over may come later: then
   * another call may turn out to be the one that explains an earlier write.
   */
  settle(): void {
    for (const write of this.#unexplained.values()) {
      if (!assign(write, (one) => this.#unknownOf(one), this.#explainedBy))
        throw new Finding('ghost', `nobody asked for ${textOf(write)}`);
      this.#unexplained.delete(write.position);
    }
  }

  /**
   * Whether the transaction, on the state before it, makes just these changes. Of compactions it feels only those before
   * position `from`.
   */
  txnExplains(txn: Txn, write: LoggedWrite, from: number): boolean {
    if (write.mark !== undefined || write.events.length === 0) return false;
    const { compactRevision } = this.#history.stateAt(from);
    const evaluated = evaluateTxn(this.#history, { ...this.#history.stateAt(write.position), compactRevision }, txn);
    return evaluated.kind === 'answered' && makes(evaluated.changes, write);
  }

  /** The positions of the window at which something changes, the first and the last one included. */
  positions(from: number, to: number): readonly number[] {
    const { writes } = this.#history;
    const positions = [to];
    for (let at = writes.length - 1; at >= 0 && writes[at]!.position >= from; at -= 1) {
      if (writes[at]!.position < to) positions.push(writes[at]!.position);
    }
    positions.push(from);
    return positions;
  }

  /** Whether the transaction is refused so in some state of the window. */
  isRefused(txn: Txn, code: ErrorCode, from: number, to: number): boolean {
    const { compactRevision } = this.#history.stateAt(from);
    return this.positions(from, to).some((position) => {
      const state = this.#history.stateAt(position);
      // A compaction that nobody had been told of is felt at once, or later.
      return [state, { ...state, compactRevision }].some((one) => {
        const evaluated = evaluateTxn(this.#history, one, txn);
        return evaluated.kind === 'refused' && evaluated.code === code;
      });
    });
  }
}

export function makes(changes: readonly ModelChange[], write: LoggedWrite): boolean {
  return (
    changes.length === write.events.length &&
    changes.every((change, at) => {
      const event = write.events[at]!;
      return (
        event.key === change.key &&
        event.deleted === change.deleted &&
        event.mod === change.mod &&
        event.value === change.value &&
        event.lease === change.lease &&
        (event.deleted || (event.create === change.create && event.version === change.version))
      );
    })
  );
}

export function textOf({ position, revision, mark, events }: LoggedWrite): string {
  const parts = events.map(({ key, value, deleted }) =>
    deleted ? `-${JSON.stringify(key)}` : `${JSON.stringify(key)}=${value.slice(0, 12)}`,
  );
  const { kind = '', ...rest } = mark ?? {};
  const text =
    mark === undefined
      ? ''
      : `${kind}${Object.values(rest)
          .map((value) => ` ${value}`)
          .join('')} `;
  return `record ${position}: ${text}${events.length === 0 ? '' : `revision ${revision} ${parts.join(' ')}`}`;
}
