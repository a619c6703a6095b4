import type { ClientBudgets, SharedBudget } from '@engram/core';
import type { MetricRegistry } from './metric-registry.ts';
import type { Sample } from './plain-histogram.ts';

/** What clients hold, what they may hold together, and how often the bound was met. */
export function registerBudgetMetrics(registry: MetricRegistry, budgets: ClientBudgets): void {
  const accounts: readonly (readonly [name: string, budget: SharedBudget])[] = [
    ['request_bytes', budgets.requestBytes],
    ['answer_bytes', budgets.answerBytes],
    ['streams', budgets.streams],
    ['connections', budgets.connections],
  ];
  const each = (read: (budget: SharedBudget) => number) => (): readonly Sample[] =>
    accounts.map(([resource, budget]) => ({ labels: { resource }, value: read(budget) }));
  registry.gauge(
    'engram_budget_used',
    'What clients hold of the process.',
    each(({ used }) => used),
  );
  registry.gauge(
    'engram_budget_limit',
    'What clients may hold of it together.',
    each(({ max }) => max),
  );
  registry.counter(
    'engram_budget_refusals_total',
    'Times that a client met the bound: it was refused, or has to wait.',
    each(({ refusals }) => refusals),
  );
}
