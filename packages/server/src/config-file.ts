import { readFileSync } from 'node:fs';
import { flagTable } from './flag-table.ts';
import { ConfigError, type FlagValues } from './flag-values.ts';
import { formatGoDuration } from './go-duration.ts';

/** The keys below client-transport-security and peer-transport-security, and the matching client flags. */
const securityFlags: Readonly<Record<string, string>> = {
  'cert-file': 'cert-file',
  'key-file': 'key-file',
  'client-cert-file': 'client-cert-file',
  'client-key-file': 'client-key-file',
  'client-cert-auth': 'client-cert-auth',
  'trusted-ca-file': 'trusted-ca-file',
  'auto-tls': 'auto-tls',
  'allowed-cn': 'cert-allowed-cn',
  'allowed-hostname': 'client-cert-allowed-hostname',
  'skip-client-san-verification': 'skip-client-san-verification',
};
const peerFlags: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(securityFlags).map(([key, flag]) => [
    key,
    `peer-${flag.replace(/^client-cert-allowed/, 'cert-allowed')}`,
  ]),
);
const blocks: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'client-transport-security': securityFlags,
  'peer-transport-security': peerFlags,
  'socket-options': { 'reuse-port': 'socket-reuse-port', 'reuse-address': 'socket-reuse-address' },
};

/**
 * Applies a configuration file: YAML (or JSON) whose keys are the names of the flags, with TLS in etcd's blocks.
 * Durations are integer nanoseconds, as in etcd, or texts like "5s". Returns a warning for each unknown key.
 */
export async function applyConfigFile(path: string, values: FlagValues): Promise<readonly string[]> {
  let document: unknown;
  try {
    const { parse } = await import('yaml'); // most starts have no file and need not load it
    document = parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new ConfigError(`cannot read the configuration file ${path}: ${reason(error)}`, { cause: error });
  }
  const warnings: string[] = [];
  const take = (key: string, flag: string | undefined, value: unknown): void => {
    const spec = flag === undefined ? undefined : flagTable.get(flag);
    if (spec === undefined) {
      warnings.push(`unknown key ${key} in ${path}`);
      return;
    }
    if (value === null || value === undefined) return; // "key:" without a value means the default
    const text = textOf(value, spec.type);
    if (text === undefined) throw new ConfigError(`invalid value of ${key} in ${path}`);
    const problem = values.set(spec, text);
    if (problem !== undefined)
      throw new ConfigError(`invalid value ${JSON.stringify(text)} of ${key} in ${path}: ${problem}`);
  };
  for (const [key, value] of entriesOf(document, path)) {
    if (key === 'discovery-config') refuseDiscovery(value, path);
    const block = blocks[key];
    if (block === undefined) take(key, key, value);
    else if (value !== null)
      for (const [inner, innerValue] of entriesOf(value, `${path}: ${key}`))
        take(`${key}.${inner}`, block[inner], innerValue);
  }
  return warnings;
}

/** etcd's block of discovery by a service. Its mere presence sets nothing. */
function refuseDiscovery(value: unknown, path: string): void {
  const isSet = (inner: unknown): boolean =>
    typeof inner === 'object' && inner !== null ? Object.values(inner).some(isSet) : inner !== '' && inner !== null;
  for (const [key, inner] of entriesOf(value, `${path}: discovery-config`))
    if (['token', 'endpoints', 'client'].includes(key) && isSet(inner))
      throw new ConfigError(`discovery-config in ${path} is not supported: see --discovery-srv`);
}

function entriesOf(value: unknown, where: string): readonly (readonly [string, unknown])[] {
  if (value === null || value === undefined) return []; // an empty file
  if (typeof value !== 'object' || Array.isArray(value)) throw new ConfigError(`${where} is no map of keys to values`);
  return Object.entries(value);
}

/** What YAML 1.1, which etcd reads, takes for a boolean. In YAML 1.2 it is a text. */
const booleans: Readonly<Record<string, string>> = { yes: 'true', on: 'true', no: 'false', off: 'false' };

function textOf(value: unknown, type: string): string | undefined {
  if (typeof value === 'number') return type === 'duration' ? formatGoDuration(value / 1e6) : String(value);
  if (typeof value === 'string' && type === 'bool') return booleans[value.toLowerCase()] ?? value;
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value.join(',');
  return undefined;
}

const reason = (error: unknown): string => (error instanceof Error ? error.message : String(error));
