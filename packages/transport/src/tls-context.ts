import { readFileSync, statSync } from 'node:fs';
import { checkServerIdentity, type PeerCertificate, type SecureContextOptions, type SecureVersion } from 'node:tls';
import type { Logger } from '@engram/core';
import type { TlsOptions, TlsVersion } from './serve-options.ts';

const versions: Readonly<Record<TlsVersion, SecureVersion>> = {
  'TLS1.0': 'TLSv1',
  'TLS1.1': 'TLSv1.1',
  'TLS1.2': 'TLSv1.2',
  'TLS1.3': 'TLSv1.3',
};

/** Go's names (crypto/tls CipherSuites) and OpenSSL's. Those of TLS 1.3 are the same in both. */
const suites: Readonly<Record<string, string>> = {
  TLS_RSA_WITH_AES_128_CBC_SHA: 'AES128-SHA',
  TLS_RSA_WITH_AES_256_CBC_SHA: 'AES256-SHA',
  TLS_RSA_WITH_AES_128_CBC_SHA256: 'AES128-SHA256',
  TLS_RSA_WITH_AES_128_GCM_SHA256: 'AES128-GCM-SHA256',
  TLS_RSA_WITH_AES_256_GCM_SHA384: 'AES256-GCM-SHA384',
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA: 'ECDHE-ECDSA-AES128-SHA',
  TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA: 'ECDHE-ECDSA-AES256-SHA',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA: 'ECDHE-RSA-AES128-SHA',
  TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA: 'ECDHE-RSA-AES256-SHA',
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256: 'ECDHE-ECDSA-AES128-SHA256',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256: 'ECDHE-RSA-AES128-SHA256',
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: 'ECDHE-RSA-AES128-GCM-SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: 'ECDHE-ECDSA-AES128-GCM-SHA256',
  TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: 'ECDHE-RSA-AES256-GCM-SHA384',
  TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: 'ECDHE-ECDSA-AES256-GCM-SHA384',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-RSA-CHACHA20-POLY1305',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305: 'ECDHE-RSA-CHACHA20-POLY1305',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_AES_128_GCM_SHA256: 'TLS_AES_128_GCM_SHA256',
  TLS_AES_256_GCM_SHA384: 'TLS_AES_256_GCM_SHA384',
  TLS_CHACHA20_POLY1305_SHA256: 'TLS_CHACHA20_POLY1305_SHA256',
};

/** OpenSSL's list for Go's names; undefined for none. Throws on a name that Go does not know. */
export function opensslCiphers(goNames: readonly string[]): string | undefined {
  if (goNames.length === 0) return undefined;
  const names = goNames.map((name) => {
    const openssl = suites[name];
    if (openssl === undefined) throw new Error(`unexpected TLS cipher suite ${JSON.stringify(name)}`);
    return openssl;
  });
  return names.join(':');
}

/** Certificates are asked for exactly when etcd does so. */
export function requiresClientCertificate(tls: TlsOptions): boolean {
  return tls.clientCertAuth || tls.trustedCaFile !== undefined;
}

function filesOf(tls: TlsOptions): readonly string[] {
  return [tls.certFile, tls.keyFile, tls.trustedCaFile, tls.crlFile].filter((file) => file !== undefined);
}

/** Throws when a file cannot be read. */
export function readSecureContext(tls: TlsOptions): SecureContextOptions {
  const ciphers = opensslCiphers(tls.cipherSuites);
  return {
    cert: readFileSync(tls.certFile),
    key: readFileSync(tls.keyFile),
    ...(tls.trustedCaFile === undefined ? {} : { ca: readFileSync(tls.trustedCaFile) }),
    ...(tls.crlFile === undefined ? {} : { crl: readFileSync(tls.crlFile) }),
    ...(ciphers === undefined ? {} : { ciphers }),
    minVersion: versions[tls.minVersion],
    ...(tls.maxVersion === undefined ? {} : { maxVersion: versions[tls.maxVersion] }),
  };
}

/** Changes whenever one of the files does: rotation tools write new files or swap links, both change inode or mtime. */
export function fileFingerprint(tls: TlsOptions): string {
  return filesOf(tls)
    .map((file) => {
      const stat = statSync(file, { throwIfNoEntry: false });
      return stat === undefined ? 'missing' : `${stat.dev}:${stat.ino}:${stat.mtimeMs}:${stat.size}`;
    })
    .join(' ');
}

/**
 * Follows the files. Asked before each handshake, as etcd reads its certificate for each handshake; four stats cost
 * nothing beside one. While files do not fit each other (a rotation under way) the last good ones stay.
 */
export class CertificateFollower {
  readonly #tls: TlsOptions;
  readonly #logger: Logger;
  #loaded: string;

  constructor(tls: TlsOptions, logger: Logger) {
    this.#tls = tls;
    this.#logger = logger;
    this.#loaded = fileFingerprint(tls);
  }

  /** Calls `apply` with what the files say now if they changed. A throw of `apply` means that they do not fit. */
  refresh(apply: (context: SecureContextOptions) => void): void {
    const found = fileFingerprint(this.#tls);
    if (found === this.#loaded) return;
    try {
      apply(readSecureContext(this.#tls));
      this.#loaded = found;
      this.#logger.info({ certFile: this.#tls.certFile }, 'certificates changed, reloaded');
    } catch (error) {
      this.#logger.warn({ certFile: this.#tls.certFile, error }, 'changed certificates are not usable yet');
    }
  }
}

/** Undefined when the client may come in, else why not. Its chain has been verified before. */
export function refusalOf(tls: TlsOptions, certificate: PeerCertificate | undefined): string | undefined {
  const names = tls.allowedCommonNames ?? [];
  const hosts = tls.allowedHostnames ?? [];
  if (names.length === 0 && hosts.length === 0) return undefined;
  if (certificate === undefined) return 'no client certificate';
  const commonName = commonNameOf(certificate);
  if (names.length > 0 && (commonName === undefined || !names.includes(commonName))) {
    return `CommonName ${JSON.stringify(commonName)} is not allowed`;
  }
  if (hosts.length > 0 && !hosts.some((host) => checkServerIdentity(host, certificate) === undefined)) {
    return 'certificate is for none of the allowed hostnames';
  }
  return undefined;
}

export function commonNameOf(certificate: PeerCertificate): string | undefined {
  const name: unknown = certificate.subject?.CN;
  if (typeof name === 'string') return name;
  return Array.isArray(name) && typeof name[0] === 'string' ? name[0] : undefined;
}
