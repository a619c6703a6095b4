import { stringify } from 'yaml';
import type { Alert, Series } from './alert.ts';
import { engramAlerts } from './engram-alerts.ts';
import { etcdAlerts } from './etcd-alerts.ts';

export const groups = { etcd: etcdAlerts, engram: engramAlerts } as const;
export const alerts: readonly Alert[] = [...etcdAlerts, ...engramAlerts];

const anchor = ({ name }: Alert): string => `docs/RUNBOOKS.md#${name.toLowerCase()}`;

/** The rules of a group, as a file of Prometheus. */
export function rulesYaml(group: keyof typeof groups): string {
  const rules = groups[group].map((alert) => ({
    alert: alert.name,
    expr: alert.expr,
    for: alert.for,
    labels: { severity: alert.severity },
    annotations: { summary: alert.summary, description: alert.description, runbook: anchor(alert) },
  }));
  return `# Made by \`make observe\`.\n${stringify({ groups: [{ name: group, rules }] }, { lineWidth: 0 })}`;
}

/** Tests for promtool of files that have rules for `tested`: each fires on the series of its alert, and not on the quiet ones. */
export function rulesTestYaml(ruleFiles: readonly string[], tested: readonly Alert[] = alerts): string {
  const tests = tested.flatMap((alert) =>
    [true, false].map((fires) => ({
      name: `${alert.name} (${alert.severity}) ${fires ? 'fires' : 'is quiet'}`,
      interval: '1m',
      input_series: seriesOf(fires ? alert.fires : alert.quiet),
      promql_expr_test: [
        {
          expr: `count(ALERTS{alertname="${alert.name}", severity="${alert.severity}", alertstate="firing"}) > 0`,
          eval_time: alert.at,
          exp_samples: fires ? [{ labels: '{}', value: 1 }] : [],
        },
      ],
    })),
  );
  return stringify({ rule_files: ruleFiles, evaluation_interval: '1m', tests }, { lineWidth: 0 });
}

const seriesOf = (series: Series) => Object.entries(series).map(([name, values]) => ({ series: name, values }));

/** docs/RUNBOOKS.md. */
export function runbooks(): string {
  const names = [...new Set(alerts.map(({ name }) => name))];
  const pages = names.map((name) => {
    const all = alerts.filter((alert) => alert.name === name);
    const [first] = all;
    const rules = all.map(({ severity, expr, for: time }) => `- ${severity}, after ${time}: \`${expr}\`\n`).join('');
    const test =
      first!.live === undefined ? 'promtool, on made series.' : `promtool, on made series. Live: ${first!.live}`;
    return `## ${name}

${first!.summary} ${first!.meaning}

${rules}
**Impact.** ${first!.impact}

**First look.** ${first!.look}

**Mend.** ${first!.mend}

**Fired by.** ${test}
`;
  });
  return `# Runbooks

Made by \`make observe\` from \`tools/observe\`. One section for each alert of the chart (\`helm/engram/files/alerts\`). The alerts that
begin with \`etcd\` have the names and thresholds of etcd's own; the others are about what etcd does not have. etcd's own rules (its
mixin) work beside them or in their place, unchanged. All select jobs that match \`.*etcd.*\` and group by the label \`cluster\`: the
chart's monitors set both. \`e2e/observe\` fires each with promtool, etcd's rules too; and where a page says "live", by its cause, on
members that run (\`make e2e-observe-live\`): with shorter ranges and waiting times there, because nobody waits for 15 minutes.

${pages.join('\n')}`;
}
