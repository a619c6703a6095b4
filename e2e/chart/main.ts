/**
 * Renders the chart and checks what comes of it, on real members. See README.md.
 *
 *   main.ts <folder>, with the tools of `run` in the environment
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments, stringify } from 'yaml';
import { readConfiguration } from '@engram/server';
import { root } from '../../tools/release/bundle.ts';
import { equal, Judge } from '../support/judge.ts';
import { freePorts } from '../../test/support/free-port.ts';
import { Member, tool } from '../release/member.ts';
import { cases, manifests as plain, refusals } from './cases.ts';
import { checkLeaderProxy } from './leader.ts';
import { writeCustomSchemas, writeKubernetesSchemas } from './schemas.ts';

const [folder = '.'] = process.argv.slice(2);
const chart = join(root, 'helm/engram');
const judge = new Judge('chart');
const setting = (name: string): string => {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set: start e2e/chart/run`);
  return value;
};
/** A Helm that is built from its module takes an old version of Kubernetes for its own. */
const cluster = ['--kube-version', '1.36.3'];
const helms = { 3: setting('HELM3'), 4: setting('HELM4') };

// biome-ignore lint/suspicious/noExplicitAny: objects of Kubernetes, looked into by the checks below
type Manifest = any;

async function render(helm: string, values: string): Promise<string> {
  return tool(helm, ['template', 'store', chart, ...cluster, '--namespace', 'db', '--values', values]);
}

const parse = (text: string): readonly Manifest[] =>
  parseAllDocuments(text)
    .map((document) => {
      if (document.errors.length > 0) throw document.errors[0];
      return document.toJS();
    })
    .filter((each) => each !== null);
const only = (manifests: readonly Manifest[], kind: string): Manifest => {
  const found = manifests.filter((each) => each.kind === kind);
  equal(`number of ${kind}`, found.length, 1);
  return found[0];
};
const container = (manifests: readonly Manifest[]): Manifest =>
  only(manifests, 'StatefulSet').spec.template.spec.containers[0];

const leaderProxy = (manifests: readonly Manifest[]): string =>
  manifests.find((each) => each.kind === 'ConfigMap' && each.data?.['haproxy.cfg'] !== undefined).data['haproxy.cfg'];

for (const [version, helm] of Object.entries(helms)) {
  await judge.check(`helm ${version} is of that version, and refuses values that make no sense`, async () => {
    equal('version', (await tool(helm, ['version', '--short'])).slice(0, 2), `v${version}`);
    for (const [values, says] of refusals) {
      const file = join(folder, 'refused.yaml');
      writeFileSync(file, stringify(values));
      const { code, stderr } = await tool.ends(helm, ['template', 'store', chart, ...cluster, '--values', file]);
      equal(`code for ${JSON.stringify(values)}`, code, 1);
      if (!says.test(stderr)) throw new Error(`${JSON.stringify(values)}: ${stderr}`);
    }
  });
}

const schemas = join(folder, 'schemas');
await judge.check('schemas of Kubernetes 1.36 and of cert-manager', async () => {
  const count = writeKubernetesSchemas(setting('KUBERNETES'), schemas);
  const custom = writeCustomSchemas(join(setting('CERT_MANAGER'), 'deploy/crds'), schemas);
  if (count < 100 || custom < 4) throw new Error(`${count} and ${custom} kinds`);
});

// Their definitions are on no registry of packages.
const withoutSchemas = 'ServiceMonitor,PodMonitor,PrometheusRule,Cluster,PDGroup,TiKVGroup,TidbCluster';
const conform = (file: string) =>
  tool.ends(setting('KUBECONFORM'), [
    ...['-strict', '-summary', '-skip', withoutSchemas],
    ...['-schema-location', join(schemas, '{{.ResourceKind}}{{.KindSuffix}}.json'), file],
  ]);

const rendered = new Map<string, readonly Manifest[]>();
for (const [at, [name, values]] of Object.entries(cases).entries()) {
  const file = join(folder, `values-${at}.yaml`);
  writeFileSync(file, stringify(values));
  await judge.check(`${name}: both versions of Helm lint it, and render the same, by the schemas`, async () => {
    for (const helm of Object.values(helms)) await tool(helm, ['lint', chart, '--strict', '--values', file]);
    const [three, four] = await Promise.all(Object.values(helms).map((helm) => render(helm, file)));
    // Generated certificates differ each time.
    const comparable = (text: string): string => text.replaceAll(/^ {2}\w+\.(crt|key): .*$/gm, '');
    equal('rendered text', JSON.stringify(parse(comparable(three!))), JSON.stringify(parse(comparable(four!))));
    const output = join(folder, `rendered-${at}.yaml`);
    writeFileSync(output, four!);
    const { code, stdout } = await conform(output);
    if (code !== 0 || !/Invalid: 0, Errors: 0/.test(stdout)) throw new Error(stdout);
    rendered.set(name, parse(four!));
  });

  await judge.check(`${name}: a member understands its flags, without a warning`, async () => {
    const { args, env } = container(rendered.get(name)!);
    equal('flags that a variable excludes', env.filter((each: Manifest) => each.name.startsWith('ETCD_')).length, 0);
    const flags = args.map((each: string) =>
      each.replaceAll('$(POD_NAME)', 'store-engram-0').replaceAll(/\/etc\/engram\/[^,]+/g, import.meta.filename),
    );
    const plainly = env.filter((each: Manifest) => each.value !== undefined);
    const variables = Object.fromEntries(plainly.map((each: Manifest) => [each.name, each.value]));
    const read = await readConfiguration(flags, variables);
    if (read.kind !== 'config') throw new Error(JSON.stringify(read));
    equal('warnings', read.config.warnings.join('; '), '');
    const { metricsExport, tracing } = read.config;
    const { metrics, tracing: traced } = values as Manifest;
    equal('metrics by OTLP', metricsExport !== undefined, metrics?.otlp?.enabled === true);
    equal('traces', tracing !== undefined, traced?.enabled === true);
    if (tracing !== undefined) equal('who traces', tracing.instanceId, 'store-engram-0');
    equal('members', read.config.cluster === undefined, (values['storage'] as Manifest)?.type !== 'tikv');
  });
}

for (const [name, values] of Object.entries(plain)) {
  await judge.check(`deploy/manifests/${name}.yaml is what the chart renders, by the schemas`, async () => {
    const file = join(folder, `${name}-values.yaml`);
    writeFileSync(file, stringify(values));
    const flags = ['template', 'engram', chart, ...cluster, '--namespace', 'engram', '--values', file];
    const text = await tool(helms[4], flags);
    const output = join(root, 'deploy/manifests', `${name}.yaml`);
    // Nobody manages these objects.
    const wanted = text.replaceAll(/^ *(app\.kubernetes\.io\/managed-by|helm\.sh\/chart): .*\n/gm, '');
    if (process.env['WRITE_MANIFESTS'] === '1') writeFileSync(output, wanted);
    equal('text (WRITE_MANIFESTS=1 writes it)', readFileSync(output, 'utf8'), wanted);
    const { code, stdout } = await conform(output);
    if (code !== 0) throw new Error(stdout);
  });
}

await judge.check('a member knows the flags of the static pod of kubeadm', async () => {
  const source = readFileSync(join(setting('KUBERNETES'), 'cmd/kubeadm/app/phases/etcd/local.go'), 'utf8');
  const names = [...source.matchAll(/\{Name: "([a-z-]+)", Value: (.*)\},$/gm)].map(([, name, value]) => [
    name!,
    value!,
  ]);
  if (names.length < 15) throw new Error(`only ${names.length} flags in local.go`);
  const urls = 'https://127.0.0.1:1';
  const flags = names.map(([name, value]) => {
    const text = /^"(.*)"$/.exec(value!)?.[1];
    if (text !== undefined) return `--${name}=${text}`;
    if (name === 'listen-metrics-urls') return `--${name}=http://127.0.0.1:2381`;
    if (name!.endsWith('-urls')) return `--${name}=${urls}`;
    return `--${name}=${name!.endsWith('-file') ? import.meta.filename : 'x'}`;
  });
  const read = await readConfiguration([...flags, `--initial-cluster=x=${urls}`], {});
  if (read.kind !== 'config') throw new Error(JSON.stringify(read));
  for (const warning of read.config.warnings) if (!/without effect/.test(warning)) throw new Error(warning);
});

await judge.check('metrics by OTLP: the variables, as the specification has them', async () => {
  const variablesOf = (name: string): readonly string[] =>
    container(rendered.get(name)!)
      .env.filter((each: Manifest) => each.name.startsWith('OTEL_'))
      .map((each: Manifest) => `${each.name}=${each.value ?? each.valueFrom.secretKeyRef.name}`);
  equal(
    'by HTTP',
    variablesOf('one member with everything').join(' '),
    'OTEL_METRICS_EXPORTER=otlp OTEL_EXPORTER_OTLP_METRICS_ENDPOINT=http://collector:4318/v1/metrics ' +
      'OTEL_EXPORTER_OTLP_METRICS_PROTOCOL=http/protobuf OTEL_METRIC_EXPORT_INTERVAL=15000 ' +
      'OTEL_EXPORTER_OTLP_METRICS_HEADERS=headers',
  );
  equal(
    'by gRPC',
    variablesOf('five members on a TiKV of tidb-operator, with generated certificates').join(' '),
    'OTEL_METRICS_EXPORTER=otlp OTEL_EXPORTER_OTLP_METRICS_ENDPOINT=http://collector:4317 ' +
      'OTEL_EXPORTER_OTLP_METRICS_PROTOCOL=grpc OTEL_METRIC_EXPORT_INTERVAL=60000',
  );
  equal('by default', variablesOf('defaults').join(' '), '');
});

await judge.check('the schemas find a misspelt field', async () => {
  const file = join(folder, 'misspelt.yaml');
  const text = readFileSync(join(folder, 'rendered-0.yaml'), 'utf8');
  writeFileSync(file, text.replace('podManagementPolicy:', 'podManagmentPolicy:'));
  equal('code', (await conform(file)).code, 1);
});

await judge.check('three members: names, volumes and secrets', async () => {
  const manifests = rendered.get('three members on TiKV with given secrets')!;
  const set = only(manifests, 'StatefulSet');
  const { args, volumeMounts } = container(manifests);
  const names = [0, 1, 2].map((at) => `store-engram-${at}`);
  const urls = names.map((name) => `${name}=https://${name}.store-engram-headless.db.svc.cluster.local:2380`);
  equal('initial cluster', args.includes(`--initial-cluster=${urls.join(',')}`), true);
  equal('name of the service', set.spec.serviceName, 'store-engram-headless');
  equal('claims', set.spec.volumeClaimTemplates, undefined);
  const secrets = set.spec.template.spec.volumes.map((each: Manifest) => each.secret?.secretName).filter(Boolean);
  equal('secrets', secrets.sort().join(' '), 'client peer tikv-client');
  const headless = manifests.find((each) => each.metadata.name === 'store-engram-headless');
  equal('names before readiness', headless.spec.publishNotReadyAddresses, true);
  const mounted = volumeMounts.map((each: Manifest) => each.mountPath);
  for (const path of args.flatMap((each: string) => each.match(/\/(?:etc|var)\/[^,]+/g) ?? []))
    equal(
      `mount of ${path}`,
      mounted.some((mount: string) => path.startsWith(`${mount}/`)),
      true,
    );
  const [clients, peers] = only(manifests, 'NetworkPolicy').spec.ingress;
  equal('who reaches clients', clients.from, undefined);
  equal('who reaches peers', peers.from[0].podSelector.matchLabels['app.kubernetes.io/component'], 'member');
  equal('evictions', only(manifests, 'PodDisruptionBudget').spec.maxUnavailable, 1);
});

await judge.check('every selector finds the pods that it means, and the monitors find a service', async () => {
  equal('rendered cases', rendered.size, Object.keys(cases).length);
  for (const [name, manifests] of rendered) {
    const labels = only(manifests, 'StatefulSet').spec.template.metadata.labels;
    const matches = (selector: Manifest, of: Manifest): boolean =>
      Object.entries(selector).every(([key, value]) => of[key] === value);
    for (const each of manifests) {
      if (each.kind === 'Service') {
        const pods = each.metadata.name.endsWith('-leader')
          ? only(manifests, 'Deployment').spec.template.metadata.labels
          : labels;
        equal(`${name}: ${each.metadata.name}`, matches(each.spec.selector, pods), true);
        const members = each.spec.selector['app.kubernetes.io/component'] === 'member';
        equal(`${name}: ${each.metadata.name} selects members`, matches(each.spec.selector, labels), members);
      }
      if (['StatefulSet', 'PodDisruptionBudget', 'PodMonitor'].includes(each.kind))
        equal(`${name}: ${each.kind}`, matches(each.spec.selector.matchLabels, labels), true);
      if (each.kind !== 'ServiceMonitor') continue;
      const services = manifests.filter(
        (other) => other.kind === 'Service' && matches(each.spec.selector.matchLabels, other.metadata.labels),
      );
      equal(`${name}: services of the monitor`, services.length, 1);
      equal(
        'port',
        services[0].spec.ports.some((port: Manifest) => port.name === each.spec.endpoints[0].port),
        true,
      );
    }
    const jobs = manifests.filter((each) => each.kind === 'CronJob');
    for (const job of jobs) {
      const pod = job.spec.jobTemplate.spec.template.metadata.labels;
      equal('a backup is no member', matches({ 'app.kubernetes.io/component': 'member' }, pod), false);
    }
  }
});

await judge.check('generated certificates: signed by their authority, for the names of the members', async () => {
  const manifests = rendered.get('five members on a TiKV of tidb-operator, with generated certificates')!;
  const secrets = manifests.filter((each) => each.kind === 'Secret');
  equal('secrets', secrets.length, 2);
  for (const { data } of secrets) {
    for (const key of ['ca.crt', 'tls.crt']) writeFileSync(join(folder, key), Buffer.from(data[key], 'base64'));
    const [ca, certificate] = [join(folder, 'ca.crt'), join(folder, 'tls.crt')];
    const host = ['-verify_hostname', 'store-engram-4.store-engram-headless.db.svc.cluster.local'];
    for (const purpose of ['sslserver', 'sslclient'])
      await tool('openssl', ['verify', '-CAfile', ca, '-purpose', purpose, ...host, certificate]);
  }
});

await judge.check('a real member with the rendered flags: its probes, and backups by the rendered job', async () => {
  const manifests = rendered.get('defaults')!;
  const { args, ports, startupProbe, livenessProbe, readinessProbe } = container(manifests);
  const [client, metrics] = await freePorts(2);
  const own = args
    .map((each: string) =>
      each.replaceAll('$(POD_NAME)', 'store-engram-0').replaceAll('0.0.0.0:2379', `127.0.0.1:${client}`),
    )
    .map((each: string) => each.replaceAll('0.0.0.0:2381', `127.0.0.1:${metrics}`))
    .map((each: string) => each.replaceAll('/var/lib/engram', join(folder, 'member')));
  const urls = { client: `http://127.0.0.1:${client}`, metrics: `http://127.0.0.1:${metrics}` };
  await using _ = await Member.startWith({ program: join(root, 'packages/server/bin/engram'), args: [] }, own, urls);
  const metricsPort = ports.find((each: Manifest) => each.name === 'metrics').containerPort;
  equal(
    'port of the metrics',
    args.some((each: string) => each === `--listen-metrics-urls=http://0.0.0.0:${metricsPort}`),
    true,
  );
  for (const probe of [startupProbe, livenessProbe, readinessProbe]) {
    equal('port of a probe', probe.httpGet.port, 'metrics');
    equal(probe.httpGet.path, (await fetch(`${urls.metrics}${probe.httpGet.path}`)).status, 200);
  }

  const job = only(rendered.get('one member with everything')!, 'CronJob').spec.jobTemplate.spec.template.spec;
  const [{ command, args: script, env }] = job.containers;
  const snapshots = join(folder, 'snapshots');
  mkdirSync(snapshots);
  const kept = 2;
  const variables = Object.fromEntries(
    env.map((each: Manifest) => [each.name, each.value]).filter(([name]: string[]) => !/CERT|KEY$|CACERT/.test(name!)),
  );
  Object.assign(variables, { SNAPSHOTS: snapshots, KEEP: String(kept), ETCDCTL_ENDPOINTS: urls.client });
  // `etcdctl` and a `date` that goes on by an hour at each run.
  const tools = join(folder, 'tools');
  mkdirSync(tools);
  writeFileSync(join(tools, 'etcdctl'), `#!/bin/sh\nexec ${setting('ETCDCTL')} "$@"\n`, { mode: 0o755 });
  for (const hour of ['01', '02', '03', '04']) {
    writeFileSync(join(tools, 'date'), `#!/bin/sh\necho 20260101T${hour}0000Z\n`, { mode: 0o755 });
    variables['PATH'] = `${tools}:${process.env['PATH']}`;
    await tool(command[0], [...command.slice(1), ...script], { env: variables });
  }
  equal(
    'snapshots',
    readdirSync(snapshots).sort().join(' '),
    'snapshot-20260101T030000Z.db snapshot-20260101T040000Z.db',
  );
  const status = await tool(setting('ETCDUTL'), [
    'snapshot',
    'status',
    join(snapshots, 'snapshot-20260101T040000Z.db'),
  ]);
  equal('status of a snapshot', /^\w+, \d+, \d+, /.test(status), true);
  variables['ETCDCTL_ENDPOINTS'] = 'http://127.0.0.1:1';
  const failed = await tool.ends(command[0], [...command.slice(1), ...script], { env: variables });
  equal('a backup that fails', failed.code !== 0, true);
  equal('leaves what there is', readdirSync(snapshots).filter((name) => name.startsWith('snapshot')).length, kept);
});

await judge.check('the Service of the leader: a proxy that knows all members, in front of who may come', async () => {
  const manifests = rendered.get('three members on TiKV with given secrets')!;
  equal('servers', leaderProxy(manifests).match(/^ {2}server /gm)?.length, 3);
  const { spec } = only(manifests, 'Deployment').spec.template;
  equal('its file', spec.volumes[0].configMap.name, only(manifests, 'ConfigMap').metadata.name);
  const guarded = rendered.get('one member with everything')!.filter((each) => each.kind === 'NetworkPolicy');
  const [from] = guarded.find((each) => each.metadata.name === 'store-engram-leader').spec.ingress[0].from;
  equal('who may come', from.podSelector.matchLabels['store-engram-client'], 'true');
});
await checkLeaderProxy({
  judge,
  folder: join(folder, 'leader'),
  configuration: leaderProxy(rendered.get('three members on TiKV with given secrets')!),
  haproxy: setting('HAPROXY'),
  libraries: setting('HAPROXY_LIBRARIES'),
});

judge.end();
