import { readFileSync, statSync } from 'node:fs';
import { constants } from 'node:crypto';
import type { SecureContextOptions, SecureVersion } from 'node:tls';
import type { Logger } from '@engram/core';
import type { TlsOptions, TlsVersion } from './serve-options.ts';
import { opensslCiphers } from './tls-ciphers.ts';

const versions: Readonly<Record<TlsVersion, SecureVersion>> = {
  'TLS1.0': 'TLSv1',
  'TLS1.1': 'TLSv1.1',
  'TLS1.2': 'TLSv1.2',
  'TLS1.3': 'TLSv1.3',
};

/** Certificates are asked for exactly when etcd does so. */
export function requiresClientCertificate(tls: TlsOptions): boolean {
  return tls.clientCertAuth || tls.trustedCaFile !== undefined;
}

function filesOf(tls: TlsOptions): readonly string[] {
  return [tls.certFile, tls.keyFile, tls.trustedCaFile, tls.crlFile].filter((file) => file !== undefined);
}

/** Throws when a file cannot be read. */
export function readSecureContext(tls: TlsOptions): SecureContextOptions {
  return {
    cert: readFileSync(tls.certFile),
    key: readFileSync(tls.keyFile),
    ...(tls.trustedCaFile === undefined ? {} : { ca: readFileSync(tls.trustedCaFile) }),
    ...(tls.crlFile === undefined ? {} : { crl: pemOfCrl(readFileSync(tls.crlFile)) }),
    ciphers: opensslCiphers(tls.cipherSuites),
    // Go's servers never let a client renegotiate: each time costs them a handshake, and the client next to nothing.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
    minVersion: versions[tls.minVersion],
    ...(tls.maxVersion === undefined ? {} : { maxVersion: versions[tls.maxVersion] }),
  };
}

/** etcd takes a list in DER alone, OpenSSL one in PEM. */
function pemOfCrl(list: Buffer): Buffer {
  if (list.includes('-----BEGIN')) return list;
  const lines = list.toString('base64').match(/.{1,64}/g) ?? [];
  return Buffer.from(`-----BEGIN X509 CRL-----\n${lines.join('\n')}\n-----END X509 CRL-----\n`);
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
