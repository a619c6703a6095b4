import { badArguments } from './ctl-error.ts';
import type { FlagKind, Flags, FlagSpec } from './flags.ts';

const flag = (name: string, kind: FlagKind, value: string, help: string, more: Partial<FlagSpec> = {}): FlagSpec => ({
  name,
  kind,
  value,
  help,
  ...more,
});

/** The forms in which a command prints. etcdctl has two more, `fields` and `protobuf`. */
export const outputForms = ['json', 'simple', 'table'] as const;
export type OutputForm = (typeof outputForms)[number];

/** The flags of every command: those of etcdctl 3.7 (etcdctl/ctlv3/ctl.go), and --output as another name of --write-out. */
export const globalFlags: readonly FlagSpec[] = [
  flag(
    'auth-jwt-token',
    'string',
    '',
    'JWT token used for authentication (if this option is used, --user and --password should not be set)',
  ),
  flag('cacert', 'string', '', 'verify certificates of TLS-enabled secure servers using this CA bundle'),
  flag('cert', 'string', '', 'identify secure client using this TLS certificate file'),
  flag('command-timeout', 'duration', '5s', 'timeout for short running command (excluding dial timeout)'),
  flag('debug', 'bool', 'false', 'print the values of these flags to stderr'),
  flag('dial-timeout', 'duration', '2s', 'dial timeout for client connections'),
  flag('discovery-srv', 'string', '', 'domain name to query for SRV records describing cluster endpoints', {
    shorthand: 'd',
  }),
  flag('discovery-srv-name', 'string', '', 'service name to query when using DNS discovery'),
  flag('endpoints', 'strings', '127.0.0.1:2379', 'gRPC endpoints'),
  flag('hex', 'bool', 'false', 'print byte strings as hex encoded strings'),
  flag('insecure-discovery', 'bool', 'true', 'accept insecure SRV records describing cluster endpoints'),
  flag(
    'insecure-skip-tls-verify',
    'bool',
    'false',
    'skip server certificate verification (CAUTION: this option should be enabled only for testing purposes)',
  ),
  flag('insecure-transport', 'bool', 'true', 'disable transport security for client connections'),
  flag('keepalive-time', 'duration', '2s', 'keepalive time for client connections'),
  flag('keepalive-timeout', 'duration', '6s', 'keepalive timeout for client connections'),
  flag('key', 'string', '', 'identify secure client using this TLS key file'),
  flag('max-recv-bytes', 'int', '0', 'client-side response receive limit in bytes (if 0, it is 64 MiB)'),
  flag('max-request-bytes', 'int', '0', 'client-side request send limit in bytes (if 0, it is 2 MiB)'),
  flag('output', 'string', '', 'the same as --write-out', { shorthand: 'o', choices: outputForms }),
  flag(
    'password',
    'string',
    '',
    "password for authentication (if this option is used, --user option shouldn't include password)",
  ),
  flag('user', 'string', '', 'username[:password] for authentication (prompt if password is not supplied)'),
  flag('write-out', 'string', 'simple', 'set the output format (json, simple, table)', {
    shorthand: 'w',
    choices: outputForms,
  }),
];

const PREFIX = 'ETCDCTL_';
/** Scripts set it for etcdctl, which has one API today. */
const FORGOTTEN = 'ETCDCTL_API';
const SECRET: ReadonlySet<string> = new Set(['password', 'user', 'auth-jwt-token']);

export const variableOf = (name: string): string => PREFIX + name.toUpperCase().replaceAll('-', '_');

/**
 * Takes the variables of etcdctl (ETCDCTL_ENDPOINTS for --endpoints) for the flags that were not given. Returns warnings. Throws
 * CtlError bad-arguments where a variable and its flag are both there, as etcdctl, or where a value is none of its kind.
 */
export function takeEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  flags: Flags,
): readonly string[] {
  const known = new Map(globalFlags.map((spec) => [variableOf(spec.name), spec]));
  const warnings: string[] = [];
  for (const [variable, text] of Object.entries(environment)) {
    if (!variable.startsWith(PREFIX) || variable === FORGOTTEN || text === undefined) continue;
    const spec = known.get(variable);
    if (spec === undefined) {
      warnings.push(`unrecognized environment variable ${variable}`);
    } else if (flags.changed(spec.name)) {
      throw badArguments(
        `conflicting environment variable ${JSON.stringify(variable)} is shadowed by corresponding command-line flag (either unset environment variable or disable flag)`,
      );
    } else if (text !== '') {
      flags.set(spec, text, variable);
    }
  }
  return warnings;
}

/** For --debug: every flag as its variable, without secrets. */
export function debugText(flags: Flags): string {
  const shown = ({ name, kind }: FlagSpec): string => {
    if (SECRET.has(name)) return flags.text(name) === '' ? '' : '***';
    if (kind === 'strings') return `[${flags.list(name).join(' ')}]`;
    if (kind === 'bool') return String(flags.bool(name));
    if (kind === 'int') return String(flags.int(name));
    return kind === 'duration' ? `${flags.durationMs(name)}ms` : flags.text(name);
  };
  return globalFlags.map((spec) => `${variableOf(spec.name)}=${shown(spec)}\n`).join('');
}
