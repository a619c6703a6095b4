import type { ClientBudgets } from '@engram/core';
import type { MetricRegistry } from './metric-registry.ts';
import type { Sample } from './plain-histogram.ts';

/** A resource with an upper bound for the process. */
export interface BoundedResource {
  /** The name in ClientBudgets and in the flags. */
  readonly resource: string;
  readonly used: () => number;
  readonly max: number;
  /** How often the bound refused a request for more; undefined if it is not counted here. */
  readonly refusals?: () => number;
}

/** What the process as a whole is kept below. */
export interface BoundedMemory {
  readonly limitBytes: number | undefined;
  /** Collections of all garbage that the limit has asked for. */
  readonly collections: () => number;
}

/** Registers usage, limit and refusals of each resource: the budgets of clients, and the node's own bounded resources. */
export function registerBudgetMetrics(
  registry: MetricRegistry,
  budgets: ClientBudgets,
  others: readonly BoundedResource[],
  memory: BoundedMemory,
): void {
  const ofClients = (
    [
      ['request_bytes', budgets.requestBytes],
      ['answer_bytes', budgets.answerBytes],
      ['streams', budgets.streams],
      ['connections', budgets.connections],
      ['handshakes', budgets.handshakes],
      ['watcher_bytes', budgets.watcherBytes],
    ] as const
  ).map(
    ([resource, budget]): BoundedResource => ({
      resource,
      used: () => budget.used,
      max: budget.max,
      refusals: () => budget.refusals,
    }),
  );
  const all = [...ofClients, ...others];
  const each = (read: (of: BoundedResource) => number | undefined) => (): readonly Sample[] =>
    all.flatMap((of) => {
      const value = read(of);
      return value === undefined ? [] : [{ labels: { resource: of.resource }, value }];
    });
  registry.gauge(
    'engram_budget_used',
    'What is held of a bounded resource.',
    each(({ used }) => used()),
  );
  registry.gauge(
    'engram_budget_limit',
    'What may be held of it by all together.',
    each(({ max }) => max),
  );
  registry.counter(
    'engram_budget_refusals_total',
    'Times that a client met the bound: it was refused, or has to wait.',
    each(({ refusals }) => refusals?.()),
  );
  registry.gauge(
    'engram_memory_limit_bytes',
    "The limit that the bounds follow from: --memory-limit, or seven eighths of the control group's; 0: none.",
    () => memory.limitBytes ?? 0,
  );
  registry.counter(
    'engram_memory_collections_total',
    'Collections of all garbage because resident memory came near engram_memory_limit_bytes.',
    memory.collections,
  );
}
