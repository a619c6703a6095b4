import type { X509Certificate } from 'node:crypto';
import { Socket } from 'node:net';
import type { Server, TLSSocket } from 'node:tls';
import type { Logger } from '@engram/core';
import { commonNameOf, refusalOf } from './client-certificate.ts';
import type { TlsOptions } from './serve-options.ts';
import { CertificateFollower, readSecureContext, requiresClientCertificate } from './tls-context.ts';

/** A client whose handshake is complete and whose certificate is allowed. */
export interface SecureClient {
  readonly socket: TLSSocket;
  readonly h2: boolean;
  readonly commonName: string | undefined;
}

export interface TlsGateOptions {
  readonly tls: TlsOptions;
  /** Names of the protocols that are offered. */
  readonly alpn: readonly string[];
  readonly handshakeMs: number;
  readonly logger: Logger;
  readonly opened: (client: SecureClient) => void;
  /** `socket` is the socket that was passed to `accept`. */
  readonly rejected: (socket: Socket, why: string) => void;
  /**
   * Called after `rejected` with a client whose certificate the CA has signed, but which is revoked or not allowed, so
   * that the caller can send the reason. If undefined, the socket is destroyed.
   */
  readonly refused?: (socket: TLSSocket) => void;
}

/** Terminates TLS on sockets that the caller has accepted. */
export class TlsGate {
  readonly #options: TlsGateOptions;
  readonly #follower: CertificateFollower;
  readonly #server: Server;

  /** Throws when the certificates cannot be read. */
  constructor(options: TlsGateOptions) {
    const { tls, alpn, handshakeMs, logger } = options;
    this.#options = options;
    this.#follower = new CertificateFollower(tls, logger);
    // Not imported: a node without TLS does not need its 3 MiB.
    this.#server = process.getBuiltinModule('node:tls').createServer({
      ...readSecureContext(tls),
      ALPNProtocols: [...alpn],
      requestCert: requiresClientCertificate(tls),
      // Otherwise node destroys such sockets by itself, before `secureConnection`.
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
    // Before the handshake begins, so that this handshake uses the new files.
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

/** The socket below a TLS socket. Node keeps it in an undocumented property; if that is missing, returns the TLS socket. */
function underlying(socket: TLSSocket): Socket {
  const parent: unknown = '_parent' in socket ? socket._parent : undefined;
  return parent instanceof Socket ? parent : socket;
}

/** OpenSSL's code for why the client's certificate was not verified; undefined also before verification. */
function verificationFailure(socket: TLSSocket): string | undefined {
  const code: unknown = socket.authorizationError; // a string, although the type says Error
  return typeof code === 'string' ? code : undefined;
}

function verifiedCertificate(socket: TLSSocket): X509Certificate | undefined {
  return socket.authorized ? socket.getPeerX509Certificate() : undefined;
}
