import { fileOnlySettings, type FlagGroup, type FlagSpec, helpSections } from '@engram/server/testing';

const groupMarks: Readonly<Record<FlagGroup, string>> = {
  works: '',
  ignored: '**Without effect.** ',
  refused: '**Refused.** ',
};

/** What a table cannot have in a cell. */
const cell = (text: string): string => text.replaceAll('|', '\\|');

const row = (shownName: string, { type, value, group, help, choices }: FlagSpec): string => {
  const kind = choices === undefined ? type : choices.join(' or ');
  const shownValue = value === '' ? '' : `\`${value}\``;
  return `| \`${shownName}\` | ${cell(kind)} | ${cell(shownValue)} | ${groupMarks[group]}${cell(help)} |\n`;
};

const table = (rows: readonly string[]): string =>
  `| flag | type | default | what |\n| --- | --- | --- | --- |\n${rows.join('')}`;

/** docs/FLAGS.md. */
export function flagsDocument(): string {
  const sections = helpSections.map(
    ({ title, flags }) => `## ${title}\n\n${table(flags.map((flag) => row(`--${flag.name}`, flag)))}`,
  );
  // Both settings and keys are named after the clients; in the file their block says so.
  const fileOnly = [...fileOnlySettings].map(([name, spec]) =>
    row(name.replace(/^client-cert-/, 'client-transport-security.'), spec),
  );
  return `# Flags

Made by \`make flags\` from the table that \`engram --help\` shows and that a start reads. It has every flag of etcd 3.7, then those of
Engram alone. [BOUNDS.md](BOUNDS.md) says how bounds follow from the memory of the machine.

A flag works as etcd's does, unless it is marked:

- **Without effect**: it concerns what does not exist here, such as bbolt's pages. It is accepted, and one warning at the start names
  all such flags that are set.
- **Refused**: any value but the default ends the start with exit code 1 and the reason, because going on without it would not be
  what was meant.

A flag is given as \`--name=value\`, as the variable \`ETCD_NAME\` (capital letters, \`_\` in place of \`-\`; both at once are refused), or as a
key of the YAML file of \`--config-file\`, which replaces all flags and variables. In that file the flags of certificates stand in etcd's
blocks \`client-transport-security\` and \`peer-transport-security\`. \`engram restore\` and \`engram mirror\` read the command line alone.

Variables of OpenTelemetry (\`OTEL_...\`) say how [traces](TRACING.md) and [metrics by OTLP](OTLP.md) are sent.

Types: \`strings\` and \`urls\` are lists with commas; \`duration\` is Go's (\`1h30m\`, \`500ms\`); \`gates\` are \`Name=true\` or \`Name=false\`, with
commas.

${sections.join('\n')}
## In a configuration file alone

${table(fileOnly)}`;
}
