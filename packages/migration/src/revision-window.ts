import { keyText } from '@engram/core';
import { type Change, markOf, type RevisionChanges, type RevisionMark, type Target } from './stores.ts';

export interface RevisionWindowOptions {
  readonly target: Target;
  /** Called in the order of the revisions, when one is durable. */
  readonly written: (revision: number) => void;
  /** Rejects with what differs: nothing of the revision is written. `got`: the revision that it became; undefined: none. */
  readonly refuse: (revision: RevisionChanges, got: number | undefined, signal: AbortSignal) => Promise<never>;
}

/** Revisions whose answers are out. */
const REVISIONS_MAX = 32;
/** Of their keys and values; one revision may have more, alone. */
const BYTES_MAX = 8 << 20;
/** A revision of more changes is written alone: a target may have to compare its keys before. */
const CHANGES_MAX = 40;

/**
 * Writes revisions one behind the other, some before the answers of those ahead of them: a transaction takes effect only if the mark of
 * the revision ahead of it is there. One that comes too early writes nothing, and is written again. Behind a revision without a mark,
 * which deletes only what revisions on their way have created, the next one waits.
 */
export class RevisionWindow {
  readonly #options: RevisionWindowOptions;
  readonly #failed = Promise.withResolvers<never>();
  /** Of the newest revision. Rejects with what went wrong first. */
  #tail: Promise<void> = Promise.resolve();
  /** Of the newest revision. */
  #mark: RevisionMark | undefined;
  /** Keys that revisions on their way create, by their text, with how many of them do. */
  readonly #created = new Map<string, number>();
  #open = 0;
  #bytes = 0;
  #wake: () => void = () => {};

  constructor(options: RevisionWindowOptions) {
    this.#options = options;
    this.#failed.promise.catch(() => {}); // whoever races against it throws it
  }

  /** Rejects with what went wrong first; never resolves. */
  get failure(): Promise<never> {
    return this.#failed.promise;
  }

  /** Resolves when the revision is on its way. The next one is given behind that. Rejects with what went wrong ahead of it. */
  async write(whole: RevisionChanges, signal: AbortSignal): Promise<void> {
    const bytes = bytesOf(whole.changes);
    const isAlone = whole.changes.length > CHANGES_MAX || this.#mark === undefined;
    const room = isAlone ? 0 : REVISIONS_MAX - 1;
    while (this.#open > room || (this.#open > 0 && this.#bytes + bytes > BYTES_MAX)) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    if (this.#open === 0) await this.#tail;
    signal.throwIfAborted();
    const behind = this.#open === 0 ? undefined : this.#mark;
    const answer = this.#options.target.write(whole.changes, behind, signal);
    answer.catch(() => {}); // thrown in its turn
    this.#open += 1;
    this.#bytes += bytes;
    this.#mark = markOf(whole, (key) => this.#created.has(keyText(key)));
    this.#countCreated(whole, 1);
    this.#tail = this.#settle(whole, this.#tail, answer, signal).finally(() => {
      this.#open -= 1;
      this.#bytes -= bytes;
      this.#countCreated(whole, -1);
      this.#wake();
    });
    this.#tail.catch((error: unknown) => this.#failed.reject(error));
  }

  /** Resolves when no answer is out. Rejects with what went wrong first. */
  async drained(): Promise<void> {
    await this.#tail;
  }

  #countCreated({ changes }: RevisionChanges, by: 1 | -1): void {
    for (const change of changes) {
      if (change.kind === 'delete' || change.version > 1) continue;
      const text = keyText(change.key);
      const count = (this.#created.get(text) ?? 0) + by;
      if (count === 0) this.#created.delete(text);
      else this.#created.set(text, count);
    }
  }

  async #settle(
    whole: RevisionChanges,
    ahead: Promise<void>,
    answer: Promise<number | undefined>,
    signal: AbortSignal,
  ): Promise<void> {
    const { target, written, refuse } = this.#options;
    await ahead;
    // The revision ahead of it is there now.
    const got = (await answer) ?? (await target.write(whole.changes, undefined, signal));
    if (got !== whole.revision) await refuse(whole, got, signal);
    written(whole.revision);
  }
}

function bytesOf(changes: readonly Change[]): number {
  let bytes = 0;
  for (const change of changes) bytes += change.key.length + (change.kind === 'put' ? change.value.length : 0);
  return bytes;
}
