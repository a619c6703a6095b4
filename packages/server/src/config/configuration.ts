import { applyConfigFile } from '../flags/config-file.ts';
import { applyEnvironment } from '../flags/environment.ts';
import { parseArguments } from '../flags/flag-parser.ts';
import { ConfigError, FlagValues } from '../flags/flag-values.ts';
import { nodeConfig } from './node-config.ts';
import { type Configuration, subcommands, unsupported } from './subcommands.ts';

export type { Configuration } from './subcommands.ts';

/**
 * Reads the configuration from arguments and environment, or from a file alone: as in etcd, a file overrides both.
 * Rejects with ConfigError if the configuration is not valid.
 */
export async function readConfiguration(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Configuration> {
  const [command = ''] = args;
  if (unsupported.has(command)) return { kind: 'usage', problem: `the command ${command} is not supported` };
  const subcommand = subcommands.get(command);
  if (subcommand === undefined) return withoutSource(await readFlags(args, environment));
  const behind = args.slice(1);
  if (subcommand.flags === 'of its own') return subcommand.read(behind);
  const configuration = await readFlags(behind, environment);
  return configuration.kind === 'config' ? subcommand.task(configuration.config) : configuration;
}

/** Throws ConfigError for --from: without its command, a node would take writes. */
function withoutSource(configuration: Configuration): Configuration {
  if (configuration.kind !== 'config' || configuration.config.from === undefined) return configuration;
  throw new ConfigError('--from: only with the command migrate');
}

/** The flags of a member, with no command before them. */
async function readFlags(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Configuration> {
  const given = new FlagValues();
  const parsed = parseArguments(args, given);
  if (parsed.kind === 'help') return parsed;
  if (parsed.kind === 'wrong') return { kind: 'usage', problem: parsed.problem };
  if (parsed.rest.length > 0) throw new ConfigError(`${JSON.stringify(parsed.rest[0])} is not a valid flag`);
  if (parsed.version) return { kind: 'version' };

  const file = parsed.configFile || environment['ETCD_CONFIG_FILE'];
  if (file === undefined || file === '') {
    const warnings = applyEnvironment(environment, given);
    return configured(given, false, warnings, environment);
  }
  const values = new FlagValues();
  return configured(values, true, await applyConfigFile(file, values), environment);
}

function configured(
  values: FlagValues,
  fromFile: boolean,
  warnings: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Configuration {
  const config = nodeConfig(values, fromFile, environment);
  return { kind: 'config', config: { ...config, warnings: [...warnings, ...config.warnings] } };
}
