import type { ErrorCode, Txn } from '@engram/core';
import { evaluateTxn, type LoggedWrite, type ModelChange, type StoreHistory } from '@engram/sim/model';
import { Finding } from './finding.ts';
import { assign } from './matching.ts';

/** A write with an unknown outcome. */
export interface UnknownWrite {
  readonly what: string;
  /** Its record, if there is one, is at this position or later. */
  readonly from: number;
  /** The time of the request, on the node's clock. */
  readonly startMs: number;
  /** Whether the request may have written this. */
  explains(write: LoggedWrite): boolean;
}

/**
 * Every write in the log must have been requested by a client. An answered write is explained by its call. Each other
 * write must be explained by a different call with an unknown outcome.
 */
export class WriteJudge {
  readonly #history: StoreHistory;
  readonly #unexplained = new Map<number, LoggedWrite>();
  readonly #unknown: UnknownWrite[] = [];
  /** The writes explained by calls with an unknown outcome. Each call explains at most one write. */
  readonly #explainedBy = new Map<UnknownWrite, LoggedWrite>();

  constructor(history: StoreHistory) {
    this.#history = history;
  }

  logged(write: LoggedWrite): void {
    this.#unexplained.set(write.position, write);
  }

  /** Marks the write as explained. Returns false if it was explained already. */
  explain(write: LoggedWrite): boolean {
    return this.#unexplained.delete(write.position);
  }

  /** The unexplained writes at or above a position, in the order of the log. */
  unexplained(from: number): readonly LoggedWrite[] {
    return [...this.#unexplained.values()].filter(({ position }) => position >= from);
  }

  unknown(write: UnknownWrite): void {
    this.#unknown.push(write);
  }

  /** The first unused call with an unknown outcome that may explain the write. */
  unknownFor(write: LoggedWrite): UnknownWrite | undefined {
    return this.#unknownOf(write).find((unknown) => !this.#explainedBy.has(unknown));
  }

  #unknownOf(write: LoggedWrite): readonly UnknownWrite[] {
    return this.#unknown.filter((unknown) => unknown.from <= write.position && unknown.explains(write));
  }

  /**
   * Finds a call of its own for each unexplained write. A call that has timed out may take effect later. Then another
   * call may turn out to be the one that explains an earlier write.
   */
  settle(): void {
    for (const write of this.#unexplained.values()) {
      if (!assign(write, (one) => this.#unknownOf(one), this.#explainedBy))
        throw new Finding('ghost', `nobody asked for ${textOf(write)}`);
      this.#unexplained.delete(write.position);
    }
  }

  /**
   * Whether the transaction makes exactly these changes on the state before the write. Only compactions before position
   * `from` apply.
   */
  txnExplains(txn: Txn, write: LoggedWrite, from: number): boolean {
    if (write.mark !== undefined || write.events.length === 0) return false;
    const { compactRevision } = this.#history.stateAt(from);
    const evaluated = evaluateTxn(this.#history, { ...this.#history.stateAt(write.position), compactRevision }, txn);
    return evaluated.kind === 'answered' && makes(evaluated.changes, write);
  }

  /** The positions of the window at which the state changes, with the first and the last position. */
  positions(from: number, to: number): readonly number[] {
    const { writes } = this.#history;
    const positions = [to];
    for (let at = writes.length - 1; at >= 0 && writes[at]!.position >= from; at -= 1) {
      if (writes[at]!.position < to) positions.push(writes[at]!.position);
    }
    positions.push(from);
    return positions;
  }

  /** Whether the transaction is refused with this code in some state of the window. */
  isRefused(txn: Txn, code: ErrorCode, from: number, to: number): boolean {
    const { compactRevision } = this.#history.stateAt(from);
    return this.positions(from, to).some((position) => {
      const state = this.#history.stateAt(position);
      // A compaction of which no client had been told takes effect at once or later.
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
