import { opensslCiphers, type TlsOptions, type TlsVersion } from '@engram/transport';
import { ConfigError, type FlagValues } from '../flags/flag-values.ts';

/** The allowed versions and cipher suites of TLS, for clients and between members (etcd: embed/etcd.go). */
export type TlsBounds = Pick<TlsOptions, 'minVersion' | 'maxVersion' | 'cipherSuites'>;

/** Throws ConfigError if the flags contradict each other, or name a suite that Go does not know, also where nobody uses TLS. */
export function tlsBounds(values: FlagValues): TlsBounds {
  const minVersion = tlsVersion('tls-min-version', values.text('tls-min-version')) ?? 'TLS1.2';
  const maxVersion = tlsVersion('tls-max-version', values.text('tls-max-version'));
  if (maxVersion !== undefined && minVersion > maxVersion) {
    throw new ConfigError(`min version (${minVersion}) is greater than max version (${maxVersion})`);
  }
  const cipherSuites = values.list('cipher-suites');
  if (minVersion === 'TLS1.3' && cipherSuites.length > 0) {
    throw new ConfigError('cipher suites cannot be configured when only TLS1.3 is enabled');
  }
  try {
    opensslCiphers(cipherSuites);
  } catch (error) {
    throw new ConfigError(error instanceof Error ? error.message : String(error), { cause: error });
  }
  return { minVersion, ...(maxVersion === undefined ? {} : { maxVersion }), cipherSuites };
}

function tlsVersion(flag: string, text: string): TlsVersion | undefined {
  if (text === '') return undefined;
  if (text === 'TLS1.2' || text === 'TLS1.3') return text;
  throw new ConfigError(`--${flag}: unexpected TLS version ${JSON.stringify(text)} (must be one of: TLS1.2, TLS1.3)`);
}
