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

/** The server requests client certificates under the same conditions as etcd. */
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
    // As in Go's servers, no renegotiation: each one costs the server a handshake and the client almost nothing.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
    minVersion: versions[tls.minVersion],
    ...(tls.maxVersion === undefined ? {} : { maxVersion: versions[tls.maxVersion] }),
  };
}

/** etcd accepts a CRL in DER only, OpenSSL only in PEM. */
function pemOfCrl(list: Buffer): Buffer {
  if (list.includes('-----BEGIN')) return list;
  const lines = list.toString('base64').match(/.{1,64}/g) ?? [];
  return Buffer.from(`-----BEGIN X509 CRL-----\n${lines.join('\n')}\n-----END X509 CRL-----\n`);
}

/** Changes whenever a file changes. Rotation tools write new files or swap links; both change inode or mtime. */
function fileFingerprint(tls: TlsOptions): string {
  return filesOf(tls)
    .map((file) => {
      const stat = statSync(file, { throwIfNoEntry: false });
      return stat === undefined ? 'missing' : `${stat.dev}:${stat.ino}:${stat.mtimeMs}:${stat.size}`;
    })
    .join(' ');
}

/**
 * Reloads the certificate files after they change. Checked before each handshake, as etcd reads its certificate for
 * each handshake; four stats are cheap compared to a handshake. While the files do not match each other (during a
 * rotation), the last valid ones stay in use.
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

  /** Calls `apply` with the contents of the files if they changed. A throw of `apply` means that the files do not match. */
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
