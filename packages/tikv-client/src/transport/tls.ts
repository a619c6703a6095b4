import { readFileSync } from 'node:fs';
import { checkServerIdentity, createSecureContext, type PeerCertificate } from 'node:tls';
import { TikvError } from '../errors.ts';
import type { ClientTls } from '../http2/dial.ts';

/** Files are read again for each connection, so a rotated certificate is used from the next connection on. */
export interface TlsOptions {
  /** The authority that signed the certificates of PD and TiKV. The system's authorities if absent. */
  readonly caPath?: string | undefined;
  /** The client's certificate and key, for servers that request one. Both or neither. */
  readonly certPath?: string | undefined;
  readonly keyPath?: string | undefined;
  /** If given, a server's common name must be one of these, besides the usual check of its names. */
  readonly allowedCommonNames?: readonly string[] | undefined;
}

/** Throws TikvError `tls-failed` if a file cannot be read or used. */
export function clientTlsOf(tls: TlsOptions): ClientTls {
  if ((tls.certPath === undefined) !== (tls.keyPath === undefined)) {
    throw new TikvError('invalid-argument', 'certPath and keyPath go together');
  }
  const { allowedCommonNames } = tls;
  try {
    const context = createSecureContext({
      ...(tls.caPath === undefined ? {} : { ca: readFileSync(tls.caPath) }),
      ...(tls.keyPath === undefined ? {} : { key: readFileSync(tls.keyPath) }),
      ...(tls.certPath === undefined ? {} : { cert: readFileSync(tls.certPath) }),
      // As in the clients of Go and Rust, a path to any certificate of the file is enough: it may have an intermediate alone.
      allowPartialTrustChain: true,
    });
    const checkServer = (host: string, peer: PeerCertificate): Error | undefined =>
      checkServerIdentity(host, peer) ?? (allowedCommonNames && checkName(peer, allowedCommonNames));
    return { context, checkServer };
  } catch (cause) {
    throw new TikvError('tls-failed', cause instanceof Error ? cause.message : undefined, { cause });
  }
}

function checkName(peer: PeerCertificate, allowed: readonly string[]): Error | undefined {
  const names = [peer.subject.CN].flat().filter((name) => name !== undefined);
  if (names.some((name) => allowed.includes(name))) return undefined;
  return new Error(`common name ${names.join(', ')} is not one of ${allowed.join(', ')}`);
}
