import type { TlsOptions } from '@engram/transport';
import { ConfigError, type FlagValues } from '../flags/flag-values.ts';
import { checkReadable } from '../flags/readable-file.ts';
import { type TlsBounds, tlsBounds } from './tls-bounds.ts';
import type { ServeUrl } from '../flags/urls.ts';

/** 'auto' is a certificate that this member makes itself, valid for this many years. */
export type TlsConfig = TlsOptions | ({ readonly kind: 'auto'; readonly years: number } & TlsBounds);

// Flags that ask for client certificates or restrict them.
const clientFlags = [
  'client-cert-auth',
  'trusted-ca-file',
  'client-crl-file',
  'client-cert-allowed-hostname',
  'client-cert-allowed-cn',
] as const;
const ownFlags = ['cert-file', 'key-file', 'auto-tls'] as const;

/** Throws ConfigError if the flags contradict each other. Adds a warning for each setting without effect. */
export function tlsConfig(
  values: FlagValues,
  clientUrls: readonly ServeUrl[],
  metricsUrls: readonly ServeUrl[],
  warnings: string[],
): TlsConfig | undefined {
  const bounds = tlsBounds(values);
  const certFile = values.text('cert-file');
  const keyFile = values.text('key-file');
  if ((certFile === '') !== (keyFile === '')) {
    throw new ConfigError(`--cert-file and --key-file must both be present [key: ${keyFile}, cert: ${certFile}]`);
  }
  const secure = [...clientUrls, ...metricsUrls].find((url) => url.secure);
  warnOfPlainUrls(values, clientUrls, secure !== undefined, warnings);
  if (certFile === '') {
    if (values.bool('auto-tls')) {
      refuseWithAutoTls(values);
      return { kind: 'auto', years: Math.max(values.number('self-signed-cert-validity'), 1), ...bounds };
    }
    if (secure === undefined) return undefined;
    throw new ConfigError(
      `TLS key/cert (--cert-file, --key-file) must be provided for url ${secure.text} with HTTPS scheme`,
    );
  }
  const trustedCaFile = values.text('trusted-ca-file');
  const crlFile = values.text('client-crl-file');
  if (crlFile !== '' && trustedCaFile === '' && !values.bool('client-cert-auth'))
    warnings.push('--client-crl-file has no effect without --client-cert-auth or --trusted-ca-file');
  for (const [flag, file] of [
    ['cert-file', certFile],
    ['key-file', keyFile],
    ['trusted-ca-file', trustedCaFile],
    ['client-crl-file', crlFile],
  ]) {
    if (file !== '') checkReadable(flag!, file!);
  }
  return {
    certFile,
    keyFile,
    ...(trustedCaFile === '' ? {} : { trustedCaFile }),
    ...(crlFile === '' ? {} : { crlFile }),
    clientCertAuth: values.bool('client-cert-auth'),
    ...allowedClients(values, trustedCaFile),
    ...bounds,
  };
}

function allowedClients(
  values: FlagValues,
  trustedCaFile: string,
): Required<Pick<TlsOptions, 'allowedCommonNames' | 'allowedHostnames'>> {
  const allowedCommonNames = values.names('client-cert-allowed-cn');
  const allowedHostnames = values.names('client-cert-allowed-hostname');
  refuseBothLists(allowedCommonNames, allowedHostnames);
  // etcd would serve everybody: it looks at certificates that it has asked for.
  if (
    allowedCommonNames.length + allowedHostnames.length > 0 &&
    trustedCaFile === '' &&
    !values.bool('client-cert-auth')
  )
    throw new ConfigError(
      'allowed CommonNames or hostnames of clients: only with --trusted-ca-file or --client-cert-auth',
    );
  return { allowedCommonNames, allowedHostnames };
}

/** As etcd (client/pkg/transport/listener.go), for clients and for members. */
export function refuseBothLists(commonNames: readonly string[], hostnames: readonly string[]): void {
  if (commonNames.length > 0 && hostnames.length > 0)
    throw new ConfigError(
      `AllowedCNs and AllowedHostnames are mutually exclusive (cns=${quoted(commonNames)}, hostnames=${quoted(hostnames)})`,
    );
}

/** Formats a list as Go does with %q. */
const quoted = (texts: readonly string[]): string => `[${texts.map((text) => JSON.stringify(text)).join(' ')}]`;

/** Refuses flags that contradict --auto-tls. etcd would make its certificate and ignore the request for client certificates. */
function refuseWithAutoTls(values: FlagValues): void {
  const set = changedOf(values, clientFlags);
  if (set.length > 0)
    throw new ConfigError(`--auto-tls knows no client certificates: give a certificate, or drop ${set}`);
}

/** As in etcd (embed/etcd.go: configureClientListeners), URLs without TLS are still served. */
function warnOfPlainUrls(
  values: FlagValues,
  clientUrls: readonly ServeUrl[],
  someSecure: boolean,
  warnings: string[],
): void {
  const flags = changedOf(values, [...ownFlags, ...clientFlags]);
  if (flags.length === 0) return;
  if (!someSecure) {
    warnings.push(`no URL is https or unixs: without effect are ${flags}`);
    return;
  }
  for (const { secure, text } of clientUrls) {
    if (!secure) warnings.push(`clients of ${text} are served without TLS, and without ${flags}`);
  }
}

function changedOf(values: FlagValues, names: readonly string[]): string {
  const changed = new Set(values.changed().map(({ name }) => name));
  return names
    .filter((name) => changed.has(name))
    .map((name) => `--${name}`)
    .join(' ');
}
