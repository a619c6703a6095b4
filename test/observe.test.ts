import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parser } from '@prometheus-io/lezer-promql';
import { describe, expect, test } from 'vitest';
import { dashboardJson, dashboards, expressions } from '../tools/observe/dashboards.ts';
import { livePage } from '../tools/observe/live-page.ts';
import { metricsDocument, metricsOf } from '../tools/observe/metrics-page.ts';
import { alerts, groups, rulesYaml, runbooks } from '../tools/observe/rules.ts';

const root = join(import.meta.dirname, '..');
const file = (path: string): string => readFileSync(join(root, path), 'utf8');
const files = 'helm/engram/files';

describe('what `make observe` makes is fresh', () => {
  test('alerts', () => {
    for (const group of Object.keys(groups) as (keyof typeof groups)[])
      expect(file(`${files}/alerts/${group}.yaml`)).toBe(rulesYaml(group));
  });

  test('runbooks', () => {
    expect(file('docs/RUNBOOKS.md')).toBe(runbooks());
  });

  test('dashboards', () => {
    const names = dashboards.map(({ id }) => `${id}.json`).sort();
    expect(readdirSync(join(root, files, 'dashboards')).sort()).toEqual(names);
    for (const dashboard of dashboards)
      expect(file(`${files}/dashboards/${dashboard.id}.json`)).toBe(dashboardJson(dashboard));
  });

  test('docs/METRICS.md, and every metric that the sources name is in it', async () => {
    const page = await livePage();
    expect(file('docs/METRICS.md'), 'make observe writes it').toBe(metricsDocument(page));
    const exposed = new Set(metricsOf(page).map(({ name }) => name));
    const folder = join(root, 'packages/telemetry/src');
    const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => readFileSync(join(folder, name), 'utf8'));
    const named = sources.flatMap((text) =>
      [...text.matchAll(/'((?:etcd|engram|grpc_server)_[a-z_]+)'/g)].map(([, name]) => name!),
    );
    expect(named.length).toBeGreaterThan(80);
    expect([...new Set(named)].filter((name) => !exposed.has(name))).toEqual([]);
  });
});

/** Variables of Grafana, as it fills them in. */
const filled = (expr: string): string => expr.replaceAll('$__rate_interval', '5m').replaceAll('$cluster', 'c');
const all = [
  ...alerts.map(({ name, expr }) => ({ where: name, expr })),
  ...expressions.map(({ where, expr }) => ({ where, expr: filled(expr) })),
];

/** The names of metrics in an expression, or the text at the first place that does not parse. */
function metricsIn(expr: string): { readonly names: readonly string[]; readonly wrong: string | undefined } {
  const names: string[] = [];
  let wrong: string | undefined;
  parser.parse(expr).iterate({
    enter: ({ type, from, to }) => {
      if (type.isError) wrong ??= expr.slice(Math.max(0, from - 10), to + 10);
      if (type.name === 'Identifier') names.push(expr.slice(from, to));
    },
  });
  return { names, wrong };
}

test.each(all)('$where parses: $expr', ({ expr }) => {
  expect(metricsIn(expr).wrong).toBeUndefined();
});

test('expressions ask for metrics that a member has', () => {
  const known = new Set<string>(['up', 'kube_cronjob_status_last_successful_time']);
  for (const { name, type } of metricsOfDocument()) {
    for (const each of type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name])
      known.add(each);
  }
  const unknown = all.flatMap(({ where, expr }) =>
    metricsIn(expr)
      .names.filter((name) => !known.has(name))
      .map((name) => `${where}: ${name}`),
  );
  expect(all.flatMap(({ expr }) => metricsIn(expr).names).length).toBeGreaterThan(80);
  expect(unknown).toEqual([]);
});

function metricsOfDocument(): readonly { readonly name: string; readonly type: string }[] {
  return [...file('docs/METRICS.md').matchAll(/^\| `(\S+)` \| (\w+) \|/gm)].map(([, name, type]) => ({
    name: name!,
    type: type!,
  }));
}

test('a broken expression is found', () => {
  expect(metricsIn('sum(rate(x[5m])').wrong).toBeDefined();
  expect(metricsIn('sum by (a) (x)').wrong).toBeUndefined();
});

test('every rule of etcd is there: fifteen, with thirteen names', () => {
  expect(groups.etcd.length).toBe(15);
  expect(new Set(groups.etcd.map(({ name }) => name)).size).toBe(13);
});
