// `make observe`: writes the alerts and dashboards of the chart, docs/RUNBOOKS.md and docs/METRICS.md.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../release/bundle.ts';
import { dashboardJson, dashboards } from './dashboards.ts';
import { livePage } from './live-page.ts';
import { metricsDocument } from './metrics-page.ts';
import { groups, rulesYaml, runbooks } from './rules.ts';

const files = join(root, 'helm/engram/files');
for (const folder of ['alerts', 'dashboards']) {
  rmSync(join(files, folder), { recursive: true, force: true });
  mkdirSync(join(files, folder), { recursive: true });
}
for (const group of Object.keys(groups) as (keyof typeof groups)[])
  writeFileSync(join(files, 'alerts', `${group}.yaml`), rulesYaml(group));
for (const dashboard of dashboards)
  writeFileSync(join(files, 'dashboards', `${dashboard.id}.json`), dashboardJson(dashboard));
writeFileSync(join(root, 'docs/RUNBOOKS.md'), runbooks());
writeFileSync(join(root, 'docs/METRICS.md'), metricsDocument(await livePage()));
