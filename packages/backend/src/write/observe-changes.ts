import { type Clock, doSliced, EVENT_PUT, type KvEvent, Slice, type SlicedWork } from '@engram/core';
import type { StoreObserver } from '../observer.ts';

/** Changes that the observer is told of without slices, and the cost of telling it of one, in microseconds. */
const AT_ONCE = 1024;
const OBSERVE_US = 0.3;

/** Tells the observer of the changes of one write. If they are very many, the rest follows in later turns. */
export function observeChanges(
  events: readonly KvEvent[],
  observer: StoreObserver,
  clock: Clock,
  sliceUs: number | undefined,
): void {
  if (events.length <= AT_ONCE) {
    for (const event of events) observe(event, observer);
    return;
  }
  const slice = new Slice(sliceUs);
  void doSliced(observeAll(events, observer, slice), () => slice.turn(clock));
}

function* observeAll(events: readonly KvEvent[], observer: StoreObserver, slice: Slice): SlicedWork<void> {
  for (const event of events) {
    observe(event, observer);
    if (slice.spend(OBSERVE_US)) yield;
  }
}

function observe({ type, kv }: KvEvent, observer: StoreObserver): void {
  if (type === EVENT_PUT) observer.put?.(kv.length);
  else observer.deleted?.();
}
