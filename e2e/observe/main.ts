/**
 * Alerts by promtool, ours and etcd's own; every expression on a Prometheus that scrapes a loaded member; and alerts that are fired
 * by their causes on members that run. See README.md.
 *
 *   main.ts <folder> <folder of prometheus and promtool> <etcdctl> <rules of etcd's mixin> <its dashboards>
 */
import { spawn } from 'node:child_process';
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Alert } from '../../tools/observe/alert.ts';
import { expressions } from '../../tools/observe/dashboards.ts';
import { alerts, groups, rulesTestYaml } from '../../tools/observe/rules.ts';
import { root } from '../../tools/release/bundle.ts';
import { Member, tool } from '../release/member.ts';
import { equal, Judge } from '../support/judge.ts';
import { judgeLive } from './live.ts';
import { panelExpressions, parses, peerPanels, readDashboards } from './mixin-dashboards.ts';
import { idOf, readMixin, rulesOf } from './mixin.ts';
import { PrometheusServer } from './prometheus-server.ts';

const [folder = '.', bin = '', etcdctl = 'etcdctl', mixinFile = '', dashboardsFile = ''] = process.argv.slice(2);
const [prometheus, promtool] = ['prometheus', 'promtool'].map((name) => join(bin, name)) as [string, string];
const judge = new Judge('observe');
/** Ten scrapes: enough for rates over the shortest range that Grafana takes. */
const SCRAPES = 10;

const rules = join(folder, 'rules');
cpSync(join(root, 'helm/engram/files/alerts'), rules, { recursive: true });
const ruleFiles = Object.keys(groups).map((name) => `${name}.yaml`);

await judge.check(`promtool accepts the rules: ${alerts.length}`, async () => {
  const said = await tool(promtool, ['check', 'rules', ...ruleFiles.map((name) => join(rules, name))]);
  const counts = [...said.matchAll(/SUCCESS: (\d+) rules found/g)].map(([, count]) => Number(count));
  equal(
    'rules',
    counts.reduce((sum, count) => sum + count, 0),
    alerts.length,
  );
});

await judge.check('each alert fires on its series, and is quiet on the others', async () => {
  // By file: promtool evaluates each rule of a test's files at each minute of it.
  for (const [name, tested] of Object.entries(groups)) {
    writeFileSync(join(rules, `${name}-tests.yaml`), rulesTestYaml([`${name}.yaml`], tested));
    await tool(promtool, ['test', 'rules', `${name}-tests.yaml`], { cwd: rules });
  }
});

const mixin = readMixin(mixinFile);

await judge.check(
  "etcd's own rules, unchanged: each fires on the series of its alert, and is quiet on the others",
  async () => {
    const theirs = rulesOf(mixin).map(idOf);
    equal('names and severities', theirs.toSorted().join(), groups.etcd.map(idOfAlert).toSorted().join());
    equal('rules', theirs.length, 15);
    cpSync(mixinFile, join(rules, 'mixin.json'));
    await tool(promtool, ['check', 'rules', 'mixin.json'], { cwd: rules });
    writeFileSync(join(rules, 'mixin-tests.yaml'), rulesTestYaml(['mixin.json'], groups.etcd));
    await tool(promtool, ['test', 'rules', 'mixin-tests.yaml'], { cwd: rules });
  },
);

const [program = '', ...args] = (process.env['STORE_CMD'] ?? join(root, 'packages/server/bin/engram')).split(' ');
await using member = await startMember();
await using server = await PrometheusServer.start({
  program: prometheus,
  folder: join(folder, 'prometheus'),
  ruleFiles: ruleFiles.map((name) => join(rules, name)),
  targets: [{ address: new URL(member.metrics).host, cluster: 'c' }],
});
await load(member);

await judge.check('promtool finds no fault in the metrics', async () => {
  const page = await (await fetch(`${member.metrics}/metrics`)).text();
  // Names that etcd chose: counters without _total, and the reverse.
  const { stdout, stderr } = await checkMetrics(page);
  const own = `${stdout}${stderr}`.split('\n').filter((line) => line.startsWith('engram_'));
  equal('complaints', own.join('\n'), '');
});

await judge.check(`every panel has series: ${expressions.length} expressions`, async () => {
  const empty: string[] = [];
  for (const { where, expr } of expressions) {
    const filled = expr.replaceAll('$__rate_interval', '30s').replaceAll('$cluster', 'c');
    if ((await server.query(filled)).length === 0) empty.push(`${where}: ${filled}`);
  }
  equal('without series', empty.join('\n'), '');
});

const etcdDashboards = readDashboards(dashboardsFile);
const theirPanels = [
  ...panelExpressions(etcdDashboards.job, 'engram-etcd'),
  ...panelExpressions(etcdDashboards.cluster, 'c'),
];

await judge.check(
  `etcd's own dashboards, unchanged: ${theirPanels.length} expressions, all with series but those of peers`,
  async () => {
    // Sixteen in the dashboard for Grafana as it is, nineteen in that for its version 7, by two labels.
    equal('expressions', theirPanels.length, 70);
    const empty = new Set<string>();
    for (const { title, expr } of theirPanels) {
      equal(`${expr} parses`, parses(expr), true);
      if ((await server.query(expr)).length === 0) empty.add(title);
    }
    equal('panels without series', [...empty].sort().join(), peerPanels.join());
  },
);

await judge.check('the alerts can be computed on a real member, and none fires', async () => {
  for (const { expr } of alerts) await server.query(expr);
  const firing = (await server.query('ALERTS{alertstate="firing"}')).map(({ metric }) => metric['alertname']);
  equal('firing', firing.join(' '), '');
});

await judge.check('go tool pprof reads the profiles of CPU and heap', async () => {
  for (const [profile, type] of [
    ['profile?seconds=1', 'Type: cpu'],
    ['heap', 'Type: inuse_space'],
  ] as const) {
    const said = await tool('go', ['tool', 'pprof', '-top', `${member.client}/debug/pprof/${profile}`], {
      env: { ...environment(), PPROF_TMPDIR: folder },
    });
    equal(
      profile,
      said.split('\n').find((line) => line.startsWith('Type:')),
      type,
    );
    equal(`${profile} has functions`, /\d%\s+\S+$/m.test(said), true);
  }
});

await judge.check('a member that is gone fires its alerts', async () => {
  equal('code of the stop', await member.stop(), 0);
  await server.until('count(ALERTS{alertname="etcdInsufficientMembers"}) > 0');
  await server.until('count(ALERTS{alertname="etcdMembersDown"}) > 0');
});
if (process.env['LIVE'] === '1')
  await judgeLive({ judge, folder, prometheus, mixin, dashboards: etcdDashboards.cluster, program, args });
judge.end();

function idOfAlert({ name, severity }: Alert): string {
  return `${name} ${severity}`;
}

function environment(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

function startMember(): Promise<Member> {
  // With this budget every machine has stretches above it, so that their panels have series.
  return Member.start(
    { program, args: [...args, '--metrics=extensive', '--loop-budget=200us', '--enable-pprof'] },
    join(folder, 'member'),
  );
}

/** Some of everything, for as long as the scrapes take. */
async function load({ client }: Member): Promise<void> {
  const watch = spawn(etcdctl, ['--endpoints', client, 'watch', '--prefix', 'k'], { stdio: 'ignore' });
  const lease = await tool(etcdctl, ['--endpoints', client, 'lease', 'grant', '600']);
  const keepAlive = spawn(etcdctl, ['--endpoints', client, 'lease', 'keep-alive', lease.split(' ')[1]!], {
    stdio: 'ignore',
  });
  try {
    for (let count = 0; (await server.scrapes()) < SCRAPES; count += 1) {
      await tool(etcdctl, ['--endpoints', client, 'put', `k${count}`, 'value']);
      await tool(etcdctl, ['--endpoints', client, 'get', '--prefix', 'k']);
    }
  } finally {
    for (const child of [watch, keepAlive]) child.kill('SIGTERM');
  }
}

function checkMetrics(page: string): Promise<{ stdout: string; stderr: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ stdout: string; stderr: string }>();
  const child = spawn(promtool, ['check', 'metrics'], { stdio: ['pipe', 'pipe', 'pipe'] });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (text) => {
    stdout += text;
  });
  child.stderr.on('data', (text) => {
    stderr += text;
  });
  child.on('error', reject);
  child.on('close', () => resolve({ stdout, stderr }));
  child.stdin.end(page);
  return promise;
}
