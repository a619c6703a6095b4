import { EngramError } from '@engram/core';
import type { Job, Loop, Task } from '@engram/loop';
import type { Sequencer } from '@engram/sequencer';
import type { AppendOutcome } from '@engram/storage';
import type { PlannedRange } from '../answer/answer.ts';
import type { Answers } from '../answer/answers.ts';
import type { Decisions } from '../decide/decisions.ts';
import type { Write } from '../decide/write.ts';

/** Why the log takes no more. */
export type LogEnd = Exclude<AppendOutcome, { kind: 'committed' }>;

export interface PathEndOptions {
  readonly loop: Loop;
  readonly sequencer: Pick<Sequencer<PlannedRange>, 'undo'>;
  readonly decisions: Pick<Decisions, 'longEnded' | 'giveUp'>;
  readonly answers: Pick<Answers, 'refuse' | 'refuseWaiters'>;
  /** See `WritePathOptions`. */
  readonly onStopped: (outcome: LogEnd) => void;
  /** See `WritePathOptions`. */
  readonly onFatal: (error: Error) => void;
}

/** Undoing decided writes, when the leadership ends. */
const UNDO: Task = { work: 'durable', caller: 'leadership', stage: 'undo' };

/**
 * How the path of writes ends: because the leadership is given up, because the log takes no more, or because an invariant is broken.
 * What is decided and will never be durable is undone, and refused.
 */
export class PathEnd {
  /** The path has ended: what is decided from now on, and what waits, will not be durable. */
  halted = false;
  readonly #options: PathEndOptions;
  /** Undoes decided writes, one part after the other. */
  #undoing: Promise<void> | undefined;

  constructor(options: PathEndOptions) {
    this.#options = options;
  }

  /** Resolves when what was to be undone so far is out of the index. Undefined: nothing was. */
  get undone(): Promise<void> | undefined {
    return this.#undoing;
  }

  /** The leadership is given up. `writes` are decided, and have not left for the log. */
  giveUp(writes: readonly Write[]): void {
    this.halted = true;
    this.#undo(writes, new EngramError('LeaderChanged'), undefined);
  }

  /** The log has not taken `writes`, which are all that were decided and are not durable. */
  stopped(outcome: LogEnd, writes: readonly Write[]): void {
    const told = this.halted;
    this.halted = true;
    if (outcome.kind !== 'uncertain') {
      // A superseded leader does not know whether the log holds the write. Reading on in the log shows it, and where that
      // is trimmed, what other members have.
      const error = new EngramError(outcome.kind === 'fenced' ? 'LeaderChanged' : 'TimeoutDueToLeaderFail');
      this.#undo(writes, error, told ? undefined : outcome);
      return;
    }
    // It is unknown whether the log holds the batch, so it can be neither applied nor undone: the node must restart.
    const error = new EngramError('Stopped', { cause: outcome.cause });
    this.#refuseAll([...writes, ...this.#options.decisions.giveUp(error)], error);
    this.#options.onStopped(outcome);
  }

  /** See `DecisionPath`. */
  fatal(cause: unknown): EngramError {
    const fatal = new Error('a write was left half decided', { cause });
    this.halted = true;
    this.#options.onFatal(fatal);
    return new EngramError('Stopped', { cause: fatal });
  }

  #refuseAll(writes: readonly Write[], error: Error): void {
    const { answers } = this.#options;
    for (const write of writes) answers.refuse(write, error);
    answers.refuseWaiters(error);
  }

  /**
   * Removes versions that will never be durable from the index, newest first, as if the writes had never been
   * requested. Waits for the long decision under way and for earlier calls, which undo newer versions. At the end
   * every waiting caller is refused and, in the same turn, the owner is told of `outcome`.
   */
  #undo(writes: readonly Write[], error: EngramError, outcome: LogEnd | undefined): void {
    const { loop, decisions, onStopped } = this.#options;
    const before = this.#undoing ?? decisions.longEnded;
    const all = [...writes, ...decisions.giveUp(error)];
    const end = (): void => {
      this.#refuseAll(all, error);
      if (outcome !== undefined) onStopped(outcome);
    };
    this.#undoing = loop.run(UNDO, this.#undoAll(writes, before, end));
  }

  *#undoAll(writes: readonly Write[], before: Promise<void> | undefined, end: () => void): Job<undefined> {
    try {
      if (before !== undefined) yield before;
      for (let at = writes.length - 1; at >= 0; at -= 1) {
        const { group } = writes[at]!;
        if (group !== undefined) yield* this.#options.sequencer.undo(group.events);
      }
      end();
    } catch (cause) {
      this.fatal(cause);
    }
  }
}
