import { readFileSync } from 'node:fs';
import { assert, formatGoDuration } from '@engram/core';
import type { FlagSpec } from './flag-spec.ts';
import { fileOnlySettings, flagTable, insteadOfDiscovery, soundsRestricting } from './flag-table.ts';
import { ConfigError, type FlagValues } from './flag-values.ts';

/** The keys of etcd's two security blocks, and the settings that they are for clients and for members. */
const securityKeys: readonly (readonly [key: string, ofClients: string | undefined, ofPeers: string])[] = [
  ['cert-file', 'cert-file', 'peer-cert-file'],
  ['key-file', 'key-file', 'peer-key-file'],
  ['client-cert-file', 'client-cert-file', 'peer-client-cert-file'],
  ['client-key-file', 'client-key-file', 'peer-client-key-file'],
  ['client-cert-auth', 'client-cert-auth', 'peer-client-cert-auth'],
  ['trusted-ca-file', 'trusted-ca-file', 'peer-trusted-ca-file'],
  ['auto-tls', 'auto-tls', 'peer-auto-tls'],
  ['allowed-cn', 'client-cert-allowed-cn', 'peer-cert-allowed-cn'],
  ['allowed-hostname', 'client-cert-allowed-hostname', 'peer-cert-allowed-hostname'],
  // etcd does not hold the certificates of clients against their addresses, with or without this key.
  ['skip-client-san-verification', undefined, 'peer-skip-client-san-verification'],
];

interface Block {
  /** By key: the setting, undefined if the key has no effect. */
  readonly settings: ReadonlyMap<string, string | undefined>;
  /** A block of which an unknown key ends the start: it may have been meant to restrict who connects. */
  readonly isSecurity: boolean;
}

const blocks: ReadonlyMap<string, Block> = new Map([
  [
    'client-transport-security',
    { settings: new Map(securityKeys.map(([key, ofClients]) => [key, ofClients])), isSecurity: true },
  ],
  [
    'peer-transport-security',
    { settings: new Map(securityKeys.map(([key, , ofPeers]) => [key, ofPeers])), isSecurity: true },
  ],
  [
    'socket-options',
    {
      settings: new Map([
        ['reuse-port', 'socket-reuse-port'],
        ['reuse-address', 'socket-reuse-address'],
      ]),
      isSecurity: false,
    },
  ],
]);

/**
 * Applies a configuration file: YAML (or JSON) whose keys are the names of the flags, with TLS in etcd's blocks. As in
 * etcd, the first document counts, and keys may have any case. Durations are integer nanoseconds, as in etcd, or texts
 * like "5s". Returns a warning for each unknown key. One that may restrict who connects is refused.
 */
export async function applyConfigFile(path: string, values: FlagValues): Promise<readonly string[]> {
  const warnings: string[] = [];
  const take = (key: string, setting: string, value: unknown): void => {
    if (value === null || value === undefined) return; // "key:" without a value means the default
    const spec = flagTable.get(setting) ?? fileOnlySettings.get(setting);
    assert(spec !== undefined, `there is no setting ${setting}`);
    const problem = apply(values, spec, value);
    if (problem !== undefined) throw new ConfigError(`invalid value ${problem.replace('KEY', key)} in ${path}`);
  };
  for (const [key, value] of entriesOf(await documentOf(path), path)) {
    const name = key.toLowerCase();
    const block = blocks.get(name);
    if (name === 'discovery-config') refuseDiscovery(value, path);
    else if (block !== undefined) {
      if (value === null) continue;
      for (const [inner, innerValue] of entriesOf(value, `${path}: ${key}`)) {
        const innerName = inner.toLowerCase();
        const setting = block.settings.get(innerName);
        if (setting !== undefined) take(`${key}.${inner}`, setting, innerValue);
        else if (!block.settings.has(innerName)) unknown(`${key}.${inner}`, block.isSecurity);
      }
    } else if (flagTable.has(name)) take(key, name, value);
    else unknown(key, [key, ...innerKeysOf(value)].some(soundsRestricting));
  }
  return warnings;

  function unknown(key: string, mayRestrict: boolean): void {
    if (mayRestrict)
      throw new ConfigError(`unknown key ${key} in ${path}: it may be meant to restrict who connects, and would not`);
    warnings.push(`unknown key ${key} in ${path}`);
  }
}

/** Parses YAML as etcd's parser does: version 1.1, where "y" and "no" are booleans; the last of two equal keys counts. */
async function documentOf(path: string): Promise<unknown> {
  try {
    const { parseAllDocuments } = await import('yaml'); // most starts have no file and need not load it
    const [first] = parseAllDocuments(readFileSync(path, 'utf8'), {
      version: '1.1',
      merge: true,
      uniqueKeys: false,
      intAsBigInt: true,
      // Go's parser leaves dates and "12:30" as texts.
      customTags: (tags) =>
        tags.filter(
          (tag) =>
            typeof tag === 'string' ||
            !(tag.format === 'TIME' || ['timestamp', 'binary'].some((kind) => tag.tag === `tag:yaml.org,2002:${kind}`)),
        ),
    });
    if (first === undefined) return undefined;
    const [error] = first.errors ?? [];
    if (error !== undefined) throw error;
    return first.toJS();
  } catch (error) {
    throw new ConfigError(`cannot read the configuration file ${path}: ${reason(error)}`, { cause: error });
  }
}

/** The keys of a block. */
const innerKeysOf = (value: unknown): readonly string[] =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.keys(value) : [];

/** etcd's block of discovery by a service. Its mere presence sets nothing. */
function refuseDiscovery(value: unknown, path: string): void {
  const isSet = (inner: unknown): boolean =>
    typeof inner === 'object' && inner !== null ? Object.values(inner).some(isSet) : inner !== '' && inner !== null;
  for (const [key, inner] of entriesOf(value, `${path}: discovery-config`))
    if (['token', 'endpoints', 'client'].includes(key) && isSet(inner))
      throw new ConfigError(`discovery-config in ${path} is not supported: ${insteadOfDiscovery}`);
}

function entriesOf(value: unknown, where: string): readonly (readonly [string, unknown])[] {
  if (value === null || value === undefined) return []; // an empty file
  if (typeof value !== 'object' || Array.isArray(value)) throw new ConfigError(`${where} is no map of keys to values`);
  return Object.entries(value);
}

/** Returns what is wrong with the value, with KEY for its key. */
function apply(values: FlagValues, spec: FlagSpec, value: unknown): string | undefined {
  if (spec.type === 'strings' && Array.isArray(value)) {
    const items = value.map((item) => textOf(item, spec));
    if (!items.every((item) => item !== undefined)) return 'of KEY';
    values.setItems(spec, items);
    return undefined;
  }
  const text = textOf(value, spec);
  if (text === undefined) return 'of KEY';
  const problem = values.set(spec, text);
  return problem && `${JSON.stringify(text)} of KEY: ${problem}`;
}

function textOf(value: unknown, { type }: FlagSpec): string | undefined {
  if (typeof value === 'bigint' || typeof value === 'number')
    return type === 'duration' ? formatGoDuration(Number(value) / 1e6) : String(value);
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value.join(',');
  return undefined;
}

const reason = (error: unknown): string => (error instanceof Error ? error.message : String(error));
