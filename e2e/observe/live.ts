import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Collector } from '@engram/tracing/testing';
import { alerts, groups } from '../../tools/observe/rules.ts';
import { Member } from '../release/member.ts';
import { equal, type Judge } from '../support/judge.ts';
import { fillUp, holdWatchers, smallBounds } from './full-store.ts';
import { LiveAlerts } from './live-alerts.ts';
import { LiveCluster } from './live-cluster.ts';
import { type RuleFile, writeLiveRules } from './live-rules.ts';
import { type MixinDashboards, panelExpressions } from './mixin-dashboards.ts';
import { rulesOf, selectorsOf } from './mixin.ts';
import { PrometheusServer } from './prometheus-server.ts';

/** Spans are sent every five seconds. */
const EXPORT_MAX_MS = 20_000;

export interface LiveOptions {
  readonly judge: Judge;
  readonly folder: string;
  readonly prometheus: string;
  readonly mixin: RuleFile;
  /** Of etcd's mixin, with the label `cluster`. */
  readonly dashboards: MixinDashboards['cluster'];
  /** The store that is alone. The members of the cluster are of this repository. */
  readonly program: string;
  readonly args: readonly string[];
}

/** Brings the causes of alerts about, on a store with small bounds and on three members, under our rules and etcd's. */
export async function judgeLive(options: LiveOptions): Promise<void> {
  const { judge } = options;
  const folder = join(options.folder, 'live');
  mkdirSync(folder);
  const ruleFiles = writeRules(folder, options.mixin);
  await using collector = await Collector.start();
  const traced = [
    '--enable-distributed-tracing',
    `--distributed-tracing-address=${collector.address}`,
    '--distributed-tracing-sampling-rate=1000000',
  ];
  await using lone = await Member.start(
    { program: options.program, args: [...options.args, '--metrics=extensive', ...smallBounds, ...traced] },
    join(folder, 'lone'),
  );
  await using cluster = await LiveCluster.create(join(folder, 'cluster'));
  await cluster.start();
  await using server = await PrometheusServer.start({
    program: options.prometheus,
    folder: join(folder, 'prometheus'),
    ruleFiles,
    targets: [
      { address: new URL(lone.metrics).host, cluster: 'lone' },
      ...cluster.addresses.map((address) => ({ address, cluster: 'three' })),
    ],
  });
  const live = new LiveAlerts(server);
  const endpoint = new URL(lone.client).host;

  const full = ['EngramAlarmRaised', 'etcdDatabaseQuotaLowSpace', 'etcdExcessiveDatabaseGrowth'];
  await judge.check('a store is filled up to its quota, and writes go on', () =>
    live.fires('lone', [...full, 'etcdHighNumberOfFailedGRPCRequests'], () => fillUp(endpoint)),
  );
  await judge.check('a refusal for want of space is no proposal that has failed', () =>
    live.silent('lone', ['etcdHighNumberOfFailedProposals']),
  );
  await judge.check('clients ask for more watchers than there is room for', () =>
    live.fires('lone', ['EngramBudgetRefusals', 'EngramBudgetNearBound'], () => holdWatchers(endpoint)),
  );
  await judge.check('the exemplars that Prometheus has name traces that the collector has', async () => {
    const named = new Set(
      await server.tracesOf('grpc_server_handling_seconds_bucket{grpc_method="Put",cluster="lone"}'),
    );
    equal('some', named.size > 0, true);
    const all = collector.until((spans) => {
      const known = new Set(spans.map(({ traceId }) => traceId));
      return [...named].every((id) => known.has(id));
    });
    const late = pause(EXPORT_MAX_MS, 'late' as const, { ref: false });
    equal('came', await Promise.race([all.then(() => 'all'), late]), 'all');
  });
  await judge.check("three members have the series that each of etcd's rules asks for", async () => {
    const metrics = new Set(rulesOf(options.mixin).flatMap(({ expr }) => selectorsOf(expr)));
    const empty: string[] = [];
    for (const metric of metrics) if ((await server.query(`count(${metric}) > 0`)).length === 0) empty.push(metric);
    equal('without series', empty.join('\n'), '');
    equal('enough of them', metrics.size > 10, true);
  });
  await judge.check("every panel of etcd's dashboards has series of three members", async () => {
    const empty: string[] = [];
    for (const { title, expr } of panelExpressions(options.dashboards, 'three'))
      if ((await server.query(expr)).length === 0) empty.push(`${title}: ${expr}`);
    equal('without series', empty.join('\n'), '');
  });
  await judge.check('the leadership is moved again and again', () =>
    live.fires('three', ['etcdHighNumberOfLeaderChanges'], () => cluster.moveLeader()),
  );
  const slow = ['etcdHighFsyncDurations', 'etcdHighCommitDurations', 'etcdGRPCRequestsSlow'];
  await judge.check('the store of TiKV stands still under writes', () =>
    live.fires('three', ['EngramStorageStalled', ...slow], () => cluster.stopStore(), { alsoBefore: true }),
  );
  await judge.check('where the data have no bound, no alert of the quota fires', () =>
    live.silent('three', ['etcdDatabaseQuotaLowSpace', 'etcdExcessiveDatabaseGrowth']),
  );
  const lost = ['etcdMembersDown', 'etcdInsufficientMembers', 'etcdNoLeader', 'etcdHighNumberOfFailedProposals'];
  await judge.check('two of three members are killed, and writes go on', () =>
    live.fires('three', lost, () => cluster.loseTwo(), { alsoBefore: true }),
  );
  await judge.check('a member starts while the others do not run', () =>
    live.fires('three', ['EngramStartTakesLong'], () => cluster.startAlone()),
  );
  await judge.check(`fired by their causes: ${live.fired.length} alerts, those whose pages say so`, async () => {
    const said = new Set(alerts.filter((alert) => alert.live !== undefined).map(({ name }) => name));
    equal('alerts', live.fired.join(), [...said].sort().join());
  });
}

/** The rules of the chart and those of etcd's mixin, both as they are but for their times. */
function writeRules(folder: string, mixin: RuleFile): readonly string[] {
  const ours: RuleFile = {
    groups: Object.entries(groups).map(([name, rules]) => ({
      name,
      rules: rules.map(({ name: alert, expr, severity }) => ({ alert, expr, labels: { severity } })),
    })),
  };
  const files = { engram: ours, etcd: mixin };
  return Object.entries(files).map(([label, file]) => {
    const path = join(folder, `${label}.yaml`);
    writeLiveRules(path, file, label);
    return path;
  });
}
