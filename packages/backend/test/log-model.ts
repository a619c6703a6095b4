import { logPosition, type RangeOp, type Txn } from '@engram/core';
import {
  evaluateRange,
  evaluateTxn,
  type LoggedWrite,
  type Mark,
  type ModelChange,
  type ModelEvent,
  type ModelResponse,
  StoreHistory,
} from '@engram/sim/model';
import type { MemoryDisk } from '@engram/storage';

/** The model's refusal of a request. */
export class Refused extends Error {
  readonly code: string;
  constructor(code: string) {
    super(code);
    this.code = code;
  }
}

/**
 * The model by which simulated nodes are judged, for requests one after the other. It evaluates each request on what
 * the log held before it. Then the log must hold the changes of the request, and nothing else.
 */
export class LogModel {
  readonly history = new StoreHistory();
  readonly #disk: MemoryDisk;

  constructor(disk: MemoryDisk) {
    this.#disk = disk;
  }

  get revision(): number {
    return this.history.revision;
  }

  get compactRevision(): number {
    return this.history.compactRevision;
  }

  /** The write that the log has taken since the last request. */
  #written(): LoggedWrite | undefined {
    const writes: LoggedWrite[] = [];
    while (this.history.next < this.#disk.next) {
      const { first, records } = this.#disk.batch(logPosition(this.history.next));
      writes.push(...this.history.append(first, records));
    }
    if (writes.length > 1) throw new Error(`one request has made ${writes.length} writes`);
    return writes[0];
  }

  #mark(is: (mark: Mark) => boolean, what: string): void {
    const mark = this.#written()?.mark;
    if (mark === undefined || !is(mark)) throw new Error(`the log has no mark for ${what}`);
  }

  #nothingWritten(): void {
    if (this.#written() !== undefined) throw new Error('a request has written that changes nothing');
  }

  txn(txn: Txn): ModelResponse {
    const { history } = this;
    const evaluated = evaluateTxn(history, history.stateAt(history.next), txn);
    const written = this.#written();
    const changes = evaluated.kind === 'answered' ? evaluated.changes : [];
    const events = written?.events ?? [];
    if (events.length !== changes.length || !changes.every((change, at) => isChange(events[at]!, change)))
      throw new Error(`the log has not the ${changes.length} changes of the transaction`);
    if (evaluated.kind === 'refused') throw new Refused(evaluated.code);
    return evaluated.answer;
  }

  range(op: RangeOp): ModelResponse {
    const { history } = this;
    const answer = evaluateRange(history, history.stateAt(history.next), op);
    this.#nothingWritten();
    if (typeof answer === 'string') throw new Refused(answer);
    return answer;
  }

  compact(wanted: number): void {
    const refusal = wanted <= this.compactRevision ? 'Compacted' : wanted > this.revision ? 'FutureRev' : undefined;
    this.#marked(refusal, (mark) => mark.kind === 'compact' && mark.revision === wanted, `a compaction at ${wanted}`);
  }

  grant(id: bigint): void {
    const refusal = this.hasLease(id) ? 'LeaseExist' : undefined;
    this.#marked(refusal, (mark) => mark.kind === 'lease-grant' && mark.id === id, `a grant of ${id}`);
  }

  revoke(id: bigint): void {
    const refusal = this.hasLease(id) ? undefined : 'LeaseNotFound';
    this.#marked(refusal, (mark) => mark.kind === 'lease-revoke' && mark.id === id, `a revoke of ${id}`);
  }

  #marked(refusal: string | undefined, is: (mark: Mark) => boolean, what: string): void {
    if (refusal === undefined) {
      this.#mark(is, what);
      return;
    }
    this.#nothingWritten();
    throw new Refused(refusal);
  }

  hasLease(id: bigint): boolean {
    return this.history.leaseAt(id, this.history.next) !== undefined;
  }

  leaseKeys(id: bigint): readonly string[] {
    return this.history.leaseKeys(id, this.history.next);
  }

  /** All changes from a revision on, in order. */
  events(from: number): readonly ModelEvent[] {
    return this.history.changes(from, this.revision).flatMap(({ events }) => events);
  }

  /** The version that a change superseded. */
  prevOf({ key, mod }: ModelEvent): ModelEvent | undefined {
    return this.history.live(key, mod - 1);
  }
}

const isChange = (event: ModelEvent, change: ModelChange): boolean =>
  event.key === change.key &&
  event.deleted === change.deleted &&
  (event.deleted || (event.value === change.value && event.lease === change.lease && event.version === change.version));
