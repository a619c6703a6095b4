import { compareBytes } from '@engram/core';
import type { mvccpb } from '@engram/wire';

/** What has become of a key between two revisions. */
export type KeyChange =
  | { readonly change: 'added'; readonly to: mvccpb.KeyValue }
  | { readonly change: 'removed'; readonly from: mvccpb.KeyValue }
  | { readonly change: 'changed'; readonly from: mvccpb.KeyValue; readonly to: mvccpb.KeyValue };

/** Compares two lists of key-values in the order of their keys, a page of each at a time. */
export async function* keyChanges(
  before: AsyncIterable<readonly mvccpb.KeyValue[]>,
  after: AsyncIterable<readonly mvccpb.KeyValue[]>,
): AsyncGenerator<KeyChange> {
  const [left, right] = [new Cursor(before), new Cursor(after)];
  await Promise.all([left.fill(), right.fill()]);
  for (;;) {
    const [from, to] = [left.head, right.head];
    if (from === undefined && to === undefined) return;
    const order = from === undefined ? 1 : to === undefined ? -1 : compareBytes(from.key, to.key);
    if (order < 0) {
      yield { change: 'removed', from: from! };
    } else if (order > 0) {
      yield { change: 'added', to: to! };
    } else if (from!.modRevision !== to!.modRevision) {
      yield { change: 'changed', from: from!, to: to! };
    }
    if (order <= 0) await left.next();
    if (order >= 0) await right.next();
  }
}

class Cursor {
  readonly #pages: AsyncIterator<readonly mvccpb.KeyValue[]>;
  #page: readonly mvccpb.KeyValue[] = [];
  #at = 0;

  constructor(pages: AsyncIterable<readonly mvccpb.KeyValue[]>) {
    this.#pages = pages[Symbol.asyncIterator]();
  }

  /** Undefined at the end. */
  get head(): mvccpb.KeyValue | undefined {
    return this.#page[this.#at];
  }

  async next(): Promise<void> {
    this.#at += 1;
    await this.fill();
  }

  async fill(): Promise<void> {
    while (this.#at >= this.#page.length) {
      const next = await this.#pages.next();
      if (next.done === true) return;
      this.#page = next.value;
      this.#at = 0;
    }
  }
}
