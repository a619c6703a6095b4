import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hasSigned, mayBeClient } from './certificate-path.ts';
import { revokedSerials, serialText } from './revocation-list.ts';
import type { TlsOptions } from './serve-options.ts';

/** The trusted certificates and the revoked serial numbers of one reading of the files. */
export class CertificateTrust {
  readonly #trusted: readonly X509Certificate[];
  readonly #revoked: ReadonlySet<string>;

  /** Throws if a file cannot be read. */
  constructor({ trustedCaFile, crlFile }: Pick<TlsOptions, 'trustedCaFile' | 'crlFile'>) {
    const pem = trustedCaFile === undefined ? '' : readFileSync(trustedCaFile, 'latin1');
    const blocks = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? [];
    this.#trusted = blocks.map((block) => new X509Certificate(block));
    this.#revoked = crlFile === undefined ? new Set() : revokedSerials(readFileSync(crlFile));
  }

  /**
   * Why a verified certificate is refused as revoked, or undefined. As in etcd, its serial number decides, or that of the
   * authority that has signed it. etcd looks up the authorities that the peer has sent; node's server does not tell which
   * these are. So a trusted authority counts without being sent, but for a root, and a certificate below an authority
   * that is not in the file is refused while anything is revoked.
   */
  revocationOf(certificate: X509Certificate): string | undefined {
    if (this.#revoked.size === 0) return undefined;
    const isRevoked = ({ serialNumber }: X509Certificate): boolean => this.#revoked.has(serialText(serialNumber));
    const said = ({ serialNumber }: X509Certificate): string =>
      `certificate serial ${serialText(serialNumber)} revoked`;
    if (isRevoked(certificate)) return said(certificate);
    if (this.#trusted.some(({ fingerprint256 }) => fingerprint256 === certificate.fingerprint256)) return undefined;
    const signers = this.#trusted.filter((trusted) => hasSigned(trusted, certificate));
    if (signers.length === 0) return 'its authority is not in the trusted CA file, and may be revoked';
    const good = signers.find((signer) => signer.checkIssued(signer) || !isRevoked(signer));
    return good === undefined ? said(signers[0]!) : undefined;
  }

  /** Whether a certificate in which OpenSSL has found no fault but its purpose may be a client's: see mayBeClient. */
  isForClients(certificate: X509Certificate, nowMs: number): boolean {
    return mayBeClient(certificate, this.#trusted, nowMs);
  }
}
