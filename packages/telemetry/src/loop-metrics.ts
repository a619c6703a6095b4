import { type Loop, WORK_CLASSES, type WorkClass } from '@engram/loop';
import type { MetricRegistry } from './metric-registry.ts';

/** What each class of work has used of the event loop, in slices that waited for their turn. */
export function registerLoopMetrics(registry: MetricRegistry, loop: Pick<Loop, 'usage' | 'waiting' | 'inline'>): void {
  const each = (value: (work: WorkClass) => number) => () =>
    WORK_CLASSES.map((work) => ({ labels: { class: work }, value: value(work) }));
  registry.counter(
    'engram_loop_slices_total',
    'Slices of long work that waited for their turn.',
    each((work) => loop.usage.get(work)?.slices ?? 0),
  );
  registry.counter(
    'engram_loop_slice_seconds_total',
    'What these slices took.',
    each((work) => (loop.usage.get(work)?.ms ?? 0) / 1000),
  );
  registry.gauge(
    'engram_loop_longest_slice_seconds',
    'The longest of these slices.',
    each((work) => (loop.usage.get(work)?.longestMs ?? 0) / 1000),
  );
  registry.gauge(
    'engram_loop_waiting_slices',
    'Slices that wait for their turn.',
    each((work) => loop.waiting(work)),
  );
  registry.counter(
    'engram_loop_inline_read_seconds_total',
    'For how long single reads of files have blocked the event loop.',
    () => loop.inline.usage.ms / 1000,
  );
  registry.counter(
    'engram_loop_inline_reads_refused_total',
    'Single reads that another thread made, because such reads had used up their share of the event loop.',
    () => loop.inline.usage.refused,
  );
}
