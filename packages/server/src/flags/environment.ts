import { flagTable, soundsRestricting } from './flag-table.ts';
import { ConfigError, type FlagValues } from './flag-values.ts';

const environmentName = (flag: string): string => `ETCD_${flag.toUpperCase().replaceAll('-', '_')}`;

/** Read by etcd without a flag, and without effect here: etcd checks its own code while it runs (client/pkg/verify). */
const etcdsOwn: ReadonlySet<string> = new Set(['ETCD_VERIFY']);

/**
 * Applies ETCD_* variables (etcd pkg/flags/flag.go). An empty variable counts as absent. A variable whose flag is also
 * given is an error. Returns a warning for each variable without a flag. One that may restrict who connects is refused.
 */
export function applyEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  values: FlagValues,
): readonly string[] {
  const warnings: string[] = [];
  const known = new Map([...flagTable.values()].map((spec) => [environmentName(spec.name), spec]));
  for (const [name, text] of Object.entries(environment)) {
    if (!name.startsWith('ETCD_') || name === 'ETCD_CONFIG_FILE' || text === undefined) continue;
    const spec = known.get(name);
    if (name === 'ETCD_VERSION') {
      warnings.push(`cannot set special environment variable ${name}`);
    } else if (spec === undefined && !etcdsOwn.has(name) && soundsRestricting(name) && text !== '') {
      throw new ConfigError(
        `unrecognized environment variable ${name}: it may be meant to restrict who connects, and would not`,
      );
    } else if (spec === undefined) {
      warnings.push(`unrecognized environment variable ${name}`);
    } else if (values.isSet(spec.name)) {
      throw new ConfigError(
        `conflicting environment variable ${name} is shadowed by the command-line flag --${spec.name} (unset one of them)`,
      );
    } else if (text !== '') {
      const problem = values.set(spec, text);
      if (problem !== undefined) throw new ConfigError(`invalid value ${JSON.stringify(text)} for ${name}: ${problem}`);
    }
  }
  return warnings;
}
