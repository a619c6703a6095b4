import { readFileSync, statSync } from 'node:fs';
import { constants } from 'node:crypto';
import type { SecureContextOptions, SecureVersion } from 'node:tls';
import { type Logger, systemErrorCode } from '@engram/core';
import { CertificateTrust } from './certificate-trust.ts';
import type { TlsOptions, TlsVersion } from './serve-options.ts';
import { opensslCiphers } from './tls-ciphers.ts';

const versions: Readonly<Record<TlsVersion, SecureVersion>> = {
  'TLS1.0': 'TLSv1',
  'TLS1.1': 'TLSv1.1',
  'TLS1.2': 'TLSv1.2',
  'TLS1.3': 'TLSv1.3',
};

/** As in Go's servers: each renegotiation costs the server a handshake and the client almost nothing. */
const NO_RENEGOTIATION = constants.SSL_OP_NO_RENEGOTIATION;
/**
 * A resumed session brings a certificate that may have expired since, without its issuers, and in TLS 1.3 node takes one
 * without a certificate as verified.
 */
const NO_TICKETS = constants.SSL_OP_NO_TICKET;

/** The server requests client certificates under the same conditions as etcd. */
export function requiresClientCertificate(tls: TlsOptions): boolean {
  return tls.clientCertAuth || tls.trustedCaFile !== undefined;
}

function filesOf(tls: TlsOptions): readonly string[] {
  return [tls.certFile, tls.keyFile, tls.trustedCaFile, tls.crlFile].filter((file) => file !== undefined);
}

/**
 * Throws when a file cannot be read. A path to any certificate of the CA file is enough, as in Go: the file may have an
 * intermediate alone, or the certificate of a client. Revoked certificates are the matter of `CertificateTrust`: OpenSSL
 * would want a list of each authority, valid today.
 */
export function readSecureContext(tls: TlsOptions): SecureContextOptions {
  return {
    cert: readFileSync(tls.certFile),
    key: readFileSync(tls.keyFile),
    ...(tls.trustedCaFile === undefined ? {} : { ca: readFileSync(tls.trustedCaFile) }),
    allowPartialTrustChain: true,
    ciphers: opensslCiphers(tls.cipherSuites),
    secureOptions: NO_RENEGOTIATION | (requiresClientCertificate(tls) ? NO_TICKETS : 0),
    minVersion: versions[tls.minVersion],
    ...(tls.maxVersion === undefined ? {} : { maxVersion: versions[tls.maxVersion] }),
  };
}

/** Changes whenever a file changes. Rotation tools write new files or swap links; both change inode or mtime. */
const fingerprintOf = (tls: TlsOptions): string => filesOf(tls).map(fileFingerprint).join(' ');

/** Also of a file that nothing can be learnt of, as where its folder may not be searched any more: reading it says why. */
function fileFingerprint(file: string): string {
  try {
    const { dev, ino, mtimeMs, size } = statSync(file);
    return `${dev}:${ino}:${mtimeMs}:${size}`;
  } catch (error) {
    return `${systemErrorCode(error)}`;
  }
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
    this.#loaded = fingerprintOf(tls);
  }

  /** Calls `apply` with the contents of the files if they changed. A throw of `apply` means that the files do not match. */
  refresh(apply: (context: SecureContextOptions, trust: CertificateTrust) => void): void {
    const found = fingerprintOf(this.#tls);
    if (found === this.#loaded) return;
    try {
      apply(readSecureContext(this.#tls), new CertificateTrust(this.#tls));
      this.#loaded = found;
      this.#logger.info({ certFile: this.#tls.certFile }, 'certificates changed, reloaded');
    } catch (error) {
      this.#logger.warn({ certFile: this.#tls.certFile, error }, 'changed certificates are not usable yet');
    }
  }
}
