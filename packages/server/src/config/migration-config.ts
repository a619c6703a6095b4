import type { EtcdAddress } from '@engram/migration';
import { ConfigError, type FlagValues } from '../flags/flag-values.ts';
import { checkReadable } from '../flags/readable-file.ts';

const ENDPOINTS_MAX = 100;

/** The etcd that a store follows; undefined without --from. Throws ConfigError. */
export function migrationConfig(values: FlagValues): EtcdAddress | undefined {
  const from = etcdAddress(values, 'from');
  if (from === undefined) {
    if (values.bool('discard-unfinished')) throw new ConfigError('--discard-unfinished: only with --from');
    return undefined;
  }
  if (values.text('storage') === 'memory') {
    throw new ConfigError('--from: a store with --storage=memory cannot follow an etcd: it ends with the process');
  }
  if (values.text('revision-origin') !== 'sequence') {
    throw new ConfigError(
      '--from: the revisions of a store that follows an etcd are those of the etcd, so --revision-origin=sequence',
    );
  }
  return from;
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
