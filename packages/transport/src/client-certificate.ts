import type { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import type { PeerCertificate } from 'node:tls';
import type { TlsOptions } from './serve-options.ts';

/** Undefined if the client is allowed, else the reason for the refusal. The caller has verified the certificate chain. */
export function refusalOf(tls: TlsOptions, certificate: X509Certificate | undefined): string | undefined {
  const names = tls.allowedCommonNames ?? [];
  const hosts = tls.allowedHostnames ?? [];
  if (names.length === 0 && hosts.length === 0) return undefined;
  if (certificate === undefined) return 'no client certificate';
  const commonName = commonNameOf(certificate.toLegacyObject());
  // In Go, a certificate without a CommonName has an empty one.
  if (names.length > 0 && !names.includes(commonName ?? '')) {
    return `CommonName ${JSON.stringify(commonName)} is not allowed`;
  }
  if (hosts.length > 0 && !hosts.some((host) => isFor(certificate, host))) {
    return 'certificate is for none of the allowed hostnames';
  }
  return undefined;
}

/**
 * Whether one of the certificate's subject alternative names is the host, as in Go's VerifyHostname. The CommonName is
 * ignored. A wildcard stands for one whole label.
 */
function isFor(certificate: X509Certificate, host: string): boolean {
  const address = host.replace(/^\[(.*)\]$/, '$1');
  if (isIP(address) !== 0) return isForAddress(certificate, address);
  const name = host.replace(/\.$/, '');
  return certificate.checkHost(name, { subject: 'never', partialWildcards: false }) !== undefined;
}

/** An address with a zone (`fe80::1%eth0`) is none that a certificate could name, as in Go. */
export function isForAddress(certificate: X509Certificate, address: string): boolean {
  return isIP(address) !== 0 && !address.includes('%') && certificate.checkIP(address) !== undefined;
}

/** Of several CommonNames the last one counts, as in Go. */
export function commonNameOf(certificate: PeerCertificate): string | undefined {
  const given: unknown = certificate.subject?.CN;
  const name: unknown = Array.isArray(given) ? given.at(-1) : given;
  return typeof name === 'string' ? name : undefined;
}
