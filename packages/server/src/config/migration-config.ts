import type { EtcdAddress } from '@engram/migration';
import { ConfigError, type FlagValues } from '../flags/flag-values.ts';
import { checkReadable } from '../flags/readable-file.ts';

const ENDPOINTS_MAX = 100;

/** The etcd that a store follows; undefined without --from. Throws ConfigError. */
export function migrationConfig(values: FlagValues): EtcdAddress | undefined {
  const from = etcdAddress(values, 'from');
  const storage = values.text('storage');
  if (from === undefined || (storage !== 'tikv' && storage !== 'memory')) return from;
  const instead =
    storage === 'tikv'
      ? 'restore a snapshot there by engram restore --storage=tikv, and follow by engram mirror'
      : 'it ends with the process';
  throw new ConfigError(`--from: a store with --storage=${storage} cannot follow an etcd: ${instead}`);
}

/** Where an etcd is, by the flags that begin with `--from` or `--to`; undefined without endpoints. Throws ConfigError. */
export function etcdAddress(values: FlagValues, flag: 'from' | 'to'): EtcdAddress | undefined {
  const endpoints = values.list(flag).filter((endpoint) => endpoint !== '');
  if (endpoints.length > ENDPOINTS_MAX) throw new ConfigError(`--${flag}: more than ${ENDPOINTS_MAX} endpoints`);
  if (endpoints.length > 0) return { endpoints, tls: tls(values, flag), user: user(values, flag) };
  const changed = values.changed().filter(({ name }) => name.startsWith(`${flag}-`));
  if (changed.length === 0) return undefined;
  throw new ConfigError(`${changed.map(({ name }) => `--${name}`).join(' ')}: only with --${flag}`);
}

function tls(values: FlagValues, flag: 'from' | 'to'): EtcdAddress['tls'] {
  const fileOf = (name: string): string | undefined => {
    const path = values.text(`${flag}-${name}`);
    if (path === '') return undefined;
    checkReadable(`${flag}-${name}`, path);
    return path;
  };
  const [caPath, certPath, keyPath] = [fileOf('cacert'), fileOf('cert'), fileOf('key')];
  if (caPath === undefined && certPath === undefined && keyPath === undefined) return undefined;
  if ((certPath === undefined) !== (keyPath === undefined)) {
    throw new ConfigError(`--${flag}-cert and --${flag}-key must both be present`);
  }
  return {
    ...(caPath === undefined ? {} : { caPath }),
    ...(certPath === undefined || keyPath === undefined ? {} : { certPath, keyPath }),
  };
}

function user(values: FlagValues, flag: 'from' | 'to'): EtcdAddress['user'] {
  const text = values.text(`${flag}-user`);
  if (text === '') return undefined;
  const colon = text.indexOf(':');
  if (colon < 1) throw new ConfigError(`--${flag}-user: expected name:password`);
  return { name: text.slice(0, colon), password: text.slice(colon + 1) };
}
