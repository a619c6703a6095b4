import type { X509Certificate } from 'node:crypto';
import { Socket } from 'node:net';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import type { Logger } from '@engram/core';
import { commonNameOf, refusalOf } from './client-certificate.ts';
import type { TlsOptions } from './serve-options.ts';
import { CertificateFollower, readSecureContext, requiresClientCertificate } from './tls-context.ts';

/** A client whose handshake is through, and whose certificate may come in. */
export interface SecureClient {
  readonly socket: TLSSocket;
  readonly h2: boolean;
  readonly commonName: string | undefined;
}

export interface TlsGateOptions {
  readonly tls: TlsOptions;
  /** What is offered, by name. */
  readonly alpn: readonly string[];
  readonly handshakeMs: number;
  readonly logger: Logger;
  readonly opened: (client: SecureClient) => void;
  /** The socket is one that was handed to `accept`. */
  readonly rejected: (socket: Socket, why: string) => void;
  /**
   * Gets a client whose certificate is the authority's, and revoked or not allowed, after `rejected`: to tell it so.
   * Without it, its socket is destroyed.
   */
  readonly refused?: (socket: TLSSocket) => void;
}

/** Ends TLS on sockets that others have accepted. */
export class TlsGate {
  readonly #options: TlsGateOptions;
  readonly #follower: CertificateFollower;
  readonly #server: Server;

  /** Throws when the certificates cannot be read. */
  constructor(options: TlsGateOptions) {
    const { tls, alpn, handshakeMs, logger } = options;
    this.#options = options;
    this.#follower = new CertificateFollower(tls, logger);
    this.#server = createServer({
      ...readSecureContext(tls),
      ALPNProtocols: [...alpn],
      requestCert: requiresClientCertificate(tls),
      // Otherwise node ends them by itself, before `secureConnection`.
      rejectUnauthorized: requiresClientCertificate(tls) && options.refused === undefined,
      handshakeTimeout: handshakeMs,
    });
    this.#server.on('tlsClientError', (error, socket) => {
      options.rejected(underlying(socket), verificationFailure(socket) ?? error.message);
      socket.destroy();
    });
    this.#server.on('secureConnection', (socket) => this.#secured(socket));
  }

  accept(socket: Socket): void {
    // First, so that this very handshake sees new files.
    this.#follower.refresh((context) => this.#server.setSecureContext(context));
    this.#server.emit('connection', socket);
  }

  #secured(socket: TLSSocket): void {
    socket.on('error', () => socket.destroy());
    const { tls, rejected, refused } = this.#options;
    const failure = requiresClientCertificate(tls) ? verificationFailure(socket) : undefined;
    const certificate = verifiedCertificate(socket);
    const refusal = failure ?? refusalOf(tls, certificate);
    if (refusal !== undefined) {
      rejected(underlying(socket), refusal);
      const isKnown = failure === 'CERT_REVOKED' || certificate !== undefined;
      if (refused !== undefined && isKnown) refused(socket);
      else socket.destroy();
      return;
    }
    const commonName = certificate === undefined ? undefined : commonNameOf(certificate.toLegacyObject());
    this.#options.opened({ socket, h2: socket.alpnProtocol === 'h2', commonName });
  }
}

/** What a TLS socket stands on. Node keeps it in a property that it does not document; without it, the socket itself. */
function underlying(socket: TLSSocket): Socket {
  const parent: unknown = '_parent' in socket ? socket._parent : undefined;
  return parent instanceof Socket ? parent : socket;
}

/** OpenSSL's code of why the client's certificate is not verified; undefined also before it has been looked at. */
function verificationFailure(socket: TLSSocket): string | undefined {
  const code: unknown = socket.authorizationError; // a text, whatever its type says
  return typeof code === 'string' ? code : undefined;
}

function verifiedCertificate(socket: TLSSocket): X509Certificate | undefined {
  return socket.authorized ? socket.getPeerX509Certificate() : undefined;
}
