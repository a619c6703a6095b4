import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { connect as connectSecure, type PeerCertificate, type SecureContext, TLSSocket } from 'node:tls';

/** Who this client is to servers, and whom it takes for one. */
export interface ClientTls {
  readonly context: SecureContext;
  /** Called after the certificate's path is verified. */
  readonly checkServer: (host: string, certificate: PeerCertificate) => Error | undefined;
}

const READ_BYTES = 64 << 10;

/**
 * Begins to connect. `established` is called when the server may be written to, `received` for each chunk of bytes, which the
 * caller owns. All else are events of the socket.
 */
export function dial(
  address: string,
  tls: ClientTls | undefined,
  events: { established(): void; received(chunk: Buffer): void },
): Socket {
  const target = splitAddress(address);
  if (tls !== undefined) {
    const socket = connectSecure({
      ...target,
      // A name for the server's choice of a certificate; addresses are not allowed there (RFC 6066 §3).
      servername: isIP(target.host) === 0 ? target.host : '',
      secureContext: tls.context,
      checkServerIdentity: tls.checkServer,
      rejectUnauthorized: true,
      ALPNProtocols: ['h2'],
    });
    socket.setNoDelay(true);
    socket.once('secureConnect', () => events.established());
    socket.on('data', (chunk: Buffer) => events.received(chunk));
    return socket;
  }
  // With a buffer of its own the socket passes no stream and allocates no 64 KiB for each read. The copy has the answer's size.
  const buffer = Buffer.allocUnsafeSlow(READ_BYTES);
  const socket = connectPlain({
    ...target,
    noDelay: true,
    onread: {
      buffer,
      callback: (bytes) => {
        const chunk = Buffer.allocUnsafe(bytes);
        buffer.copy(chunk, 0, 0, bytes);
        events.received(chunk);
        return true;
      },
    },
  });
  socket.once('connect', () => events.established());
  return socket;
}

/**
 * Whether client and server have not agreed on TLS, and `error` says so: this client does not accept the certificate, or one of the
 * two has ended the handshake. A connection that was cut is no such failure.
 */
export function isTlsFailure(socket: Socket, error: Error): boolean {
  if (!(socket instanceof TLSSocket)) return false;
  // Undeclared: null until node, or `checkServer`, has refused the certificate.
  const refused: unknown = socket.authorizationError;
  return Boolean(refused) || ('code' in error && /^(?:ERR_SSL_|ERR_TLS_|EPROTO$)/.test(String(error.code)));
}

/** `host:port`, and `[address]:port` for IPv6. */
function splitAddress(address: string): { readonly host: string; readonly port: number } {
  const colon = address.lastIndexOf(':');
  return { host: address.slice(0, colon).replace(/^\[(.*)\]$/, '$1'), port: Number(address.slice(colon + 1)) };
}
