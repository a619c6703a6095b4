import { X509Certificate } from 'node:crypto';
import { connect, type TLSSocket } from 'node:tls';
import type { Endpoint } from '../client/endpoint.ts';
import type { TlsSettings } from '../client/tls-files.ts';
import type { CertificateReport } from './cluster-report.ts';

/** Of one file. */
const CERTIFICATES_MAX = 100;
const PEM = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

/** The certificates in a file of PEM blocks. What is none is left out: the TLS library has read the file already. */
export function certificatesIn(of: string, pem: string): readonly CertificateReport[] {
  const blocks = (pem.match(PEM) ?? []).slice(0, CERTIFICATES_MAX);
  return blocks.flatMap((block) => {
    try {
      return [reportOf(of, new X509Certificate(block))];
    } catch {
      return [];
    }
  });
}

/** node gives no subject, whatever its types say, where a certificate has alternative names alone. */
type Names = Readonly<Record<'subject' | 'subjectAltName', string | undefined>>;

function reportOf(of: string, certificate: X509Certificate): CertificateReport {
  const ends = new Date(certificate.validTo);
  const { subject: named, subjectAltName }: Names = certificate;
  const subject = named?.replaceAll('\n', ', ') ?? subjectAltName ?? '';
  return { of, subject, endsAt: ends.toISOString(), endsAtMs: ends.getTime() };
}

/**
 * The certificate that an endpoint shows. It is not verified here: one that has ended is to be reported, too. Undefined if there is
 * no handshake within the bound.
 */
export function certificateOf(
  { text, host, port, path }: Endpoint,
  tls: TlsSettings,
  boundMs: number,
): Promise<CertificateReport | undefined> {
  const { promise, resolve } = Promise.withResolvers<CertificateReport | undefined>();
  const where = path === undefined ? { host: host ?? '', port: port ?? 0 } : { path };
  const name = tls.serverName === '' ? {} : { servername: tls.serverName };
  const socket: TLSSocket = connect({
    ...where,
    ...name,
    secureContext: tls.context,
    rejectUnauthorized: false,
    ALPNProtocols: ['h2'],
  });
  const timer = setTimeout(() => socket.destroy(), boundMs);
  socket.once('secureConnect', () => {
    const certificate = socket.getPeerX509Certificate();
    try {
      resolve(certificate === undefined ? undefined : reportOf(text, certificate));
    } catch {
      resolve(undefined);
    }
    socket.destroy();
  });
  socket.on('error', () => {});
  socket.once('close', () => {
    clearTimeout(timer);
    resolve(undefined);
  });
  return promise;
}
