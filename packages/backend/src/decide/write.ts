import { assert, type EndedWrite, type EventGroup, type Span } from '@engram/core';
import type { Job } from '@engram/loop';
import type { Changes } from '@engram/sequencer';
import type { CommittedWrite, Mark } from '../apply/committed-write.ts';
import type { Caller, Origin } from '../caller.ts';

/**
 * Where a write is on its path. It leaves out no stage:
 * - waiting: for the decisions before it, or for values that it needs first;
 * - deciding: its decision is under way;
 * - decided: its versions are in the index, with their revision and positions. It waits for the log;
 * - appending: it is on its way into the log;
 * - durable: it is in the log;
 * - applied: it is in effect. Readers see it;
 * - published: watchers have its events;
 * - answered, or refused: it has ended, and so has its caller's wait.
 * A write without records of its own is applied when everything that was decided before it is published. It has nothing to publish.
 */
export type WriteStage =
  | 'waiting'
  | 'deciding'
  | 'decided'
  | 'appending'
  | 'durable'
  | 'applied'
  | 'published'
  | 'answered'
  | 'refused';

/** What a decision gives: what is to be written, if anything, and the answer when that is in effect. */
export interface Decided<Answer> {
  readonly mark?: Mark | undefined;
  /** With the record of the mark, if there is one: then its position is taken. Undefined: only the mark is written. */
  readonly changes?: Changes | undefined;
  readonly origin?: Origin | undefined;
  /** Keeps the versions that the answer needs. Disposed however the write ends. */
  readonly pin?: Disposable | undefined;
  /** The answer shows the state, and nothing is appended that would prove that this node still leads. */
  readonly showsState?: boolean;
  readonly answer: () => Answer | Promise<Answer>;
}

/** A decision that must be taken anew when the values are there that it needs. Others are taken meanwhile. */
export interface Postponed<Answer> {
  readonly until: Promise<void>;
  /** What it keeps in memory when it waits for its turn again. */
  readonly bytes: number;
  readonly again: Decision<Answer>;
}

export type Outcome<Answer> = Decided<Answer> | Postponed<Answer>;

/** How a decision is taken: in the call in which its turn comes, or by a job that may give way. */
export type Decision<Answer> = (() => Outcome<Answer>) | Job<Outcome<Answer>>;

/** The caller of a write. */
export interface WriteEnd {
  resolve(answer: unknown): void;
  reject(error: unknown): void;
}

/**
 * A write from its request to its end. Its stages change here, and nowhere else. It keeps little, because a busy node makes two
 * million of them a minute.
 */
export class Write implements CommittedWrite, EndedWrite {
  readonly caller: Caller;
  /** Its decision goes on, also when its caller was refused. */
  readonly lasting: boolean;
  readonly askedMs: number;
  decidedUs = -1;
  appendingUs = -1;
  durableUs = -1;
  appliedUs = -1;
  publishedUs = -1;
  endedUs = -1;
  mark: Mark | undefined;
  group: EventGroup | undefined;
  origin: Origin | undefined;
  ranges = 0;
  puts = 0;
  putBytes = 0;
  deletes = 0;
  txns = 0;
  #decision: Decision<unknown> | undefined;
  /** Its decision has waited for its turn. */
  waited = false;
  /** Its decision has given way. */
  gaveWay = false;
  #stage: WriteStage = 'waiting';
  readonly #end: WriteEnd;
  #pin: Disposable | undefined;
  #answer: (() => unknown) | undefined;
  #told = false;

  constructor(caller: Caller, lasting: boolean, askedMs: number, decision: Decision<unknown>, end: WriteEnd) {
    this.caller = caller;
    this.lasting = lasting;
    this.askedMs = askedMs;
    this.#decision = decision;
    this.#end = end;
  }

  get stage(): WriteStage {
    return this.#stage;
  }

  /** Nobody waits for it: its caller was answered or refused. It may go on. */
  get told(): boolean {
    return this.#told;
  }

  /** Records the call that it is for. Usually undefined. */
  get span(): Span | undefined {
    return this.caller.span;
  }

  /** Returns its decision, which it does not keep. */
  deciding(): Decision<unknown> {
    this.#enter('waiting', 'deciding');
    const decision = this.#decision;
    assert(decision !== undefined, 'a write is decided twice');
    this.#decision = undefined;
    return decision;
  }

  /** Waits again. */
  postponed(decision: Decision<unknown>): void {
    this.#enter('deciding', 'waiting');
    this.#decision = decision;
  }

  decided({ mark, changes, origin, pin }: Decided<unknown>, answer: () => unknown, nowMs: number): void {
    this.#enter('deciding', 'decided');
    this.decidedUs = this.#sinceUs(nowMs);
    this.mark = mark;
    this.origin = origin;
    this.#answer = answer;
    if (changes !== undefined) this.#changes(changes);
    if (this.#told) pin?.[Symbol.dispose]();
    else this.#pin = pin;
  }

  #changes(changes: Changes): void {
    const { events } = changes;
    if (events.length > 0) this.group = { revision: events[0]!.modRevision, events };
    this.ranges = changes.ranges;
    this.puts = changes.puts;
    this.putBytes = changes.putBytes;
    this.deletes = changes.deletes;
    this.txns = changes.txns;
  }

  appending(nowMs: number): void {
    this.#enter('decided', 'appending');
    this.appendingUs = this.#sinceUs(nowMs);
  }

  durable(nowMs: number): void {
    this.#enter('appending', 'durable');
    this.durableUs = this.#sinceUs(nowMs);
  }

  applied(nowMs: number): void {
    this.#enter(this.durableUs < 0 ? 'decided' : 'durable', 'applied');
    this.appliedUs = this.#sinceUs(nowMs);
  }

  published(nowMs: number): void {
    this.#enter('applied', 'published');
    this.publishedUs = this.#sinceUs(nowMs);
  }

  /** It has gone through all stages: gives the answer. If the answer cannot be made, only this caller is refused. */
  answer(nowMs: number): void {
    this.#enter(this.durableUs < 0 ? 'applied' : 'published', this.#told ? 'refused' : 'answered');
    this.endedUs = this.#sinceUs(nowMs);
    if (this.#told) return;
    this.#told = true;
    try {
      this.#end.resolve(this.#answer!());
    } catch (error) {
      this.#end.reject(error);
    }
    this.#answer = undefined;
    this.#pin?.[Symbol.dispose]();
  }

  /** It has left no trace. */
  refuse(error: unknown, nowMs: number): void {
    if (this.#stage === 'answered' || this.#stage === 'refused') return;
    this.#stage = 'refused';
    this.endedUs = this.#sinceUs(nowMs);
    this.tell(error);
  }

  /** Refuses its caller, and goes on. Only what is told first counts. */
  tell(error: unknown): void {
    if (this.#told) return;
    this.#told = true;
    this.#pin?.[Symbol.dispose]();
    this.#end.reject(error);
  }

  /** A small integer, which takes no memory of its own, as a time of the clock does. */
  #sinceUs(nowMs: number): number {
    return Math.round((nowMs - this.askedMs) * 1000);
  }

  #enter(from: WriteStage, to: WriteStage): void {
    assert(this.#stage === from, `a write that is ${this.#stage} becomes ${to}`);
    this.#stage = to;
  }
}
