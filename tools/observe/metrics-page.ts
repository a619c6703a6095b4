export interface MetricHelp {
  readonly name: string;
  readonly type: string;
  readonly help: string;
}

/** The metrics of an exposition in Prometheus' text format, by name. */
export function metricsOf(page: string): readonly MetricHelp[] {
  const types = new Map([...page.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name!, type!]));
  return [...page.matchAll(/^# HELP (\S+) (.*)$/gm)]
    .map(([, name, help]) => ({ name: name!, type: types.get(name!) ?? 'untyped', help: help! }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

const groups: readonly (readonly [prefix: string, title: string])[] = [
  ['engram_', 'Of Engram alone'],
  ['etcd_debugging_', 'By names of etcd that it may change'],
  ['etcd_', 'By names of etcd'],
  ['grpc_', 'Calls'],
  ['', 'Process'],
];

/** docs/METRICS.md. */
export function metricsDocument(page: string): string {
  const metrics = metricsOf(page);
  const groupOf = (name: string): string => groups.find(([prefix]) => name.startsWith(prefix))![1];
  const tables = groups.map(([, title]) => {
    const rows = metrics
      .filter(({ name }) => groupOf(name) === title)
      .map(({ name, type, help }) => `| \`${name}\` | ${type} | ${help.replaceAll('|', '\\|')} |\n`);
    return `## ${title}\n\n| metric | type | what |\n| --- | --- | --- |\n${rows.join('')}`;
  });
  return `# Metrics

Made by \`make observe\` from \`/metrics\` of a member with \`--metrics=extensive\`. Every metric exists from the start, so that an
expression on it is never empty for want of a first event; series with labels appear with their first event.

The same metrics can be sent to a collector: [OTLP.md](OTLP.md).

${tables.join('\n')}`;
}
