import type { X509Certificate } from 'node:crypto';
import { Socket } from 'node:net';
import type { SecureContextOptions, Server, TLSSocket } from 'node:tls';
import type { Clock, Logger } from '@engram/core';
import type { Loop, WorkClass } from '@engram/loop';
import { CertificateTrust } from './certificate-trust.ts';
import { hasClientHello } from './client-hello.ts';
import { commonNameOf, refusalOf } from './client-certificate.ts';
import type { Ends } from './ends.ts';
import { HandshakeLine } from './handshake-line.ts';
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
  /** From `accept` until the handshake is complete. */
  readonly handshakeMs: number;
  readonly logger: Logger;
  readonly clock: Pick<Clock, 'after' | 'nowMs'>;
  /** Handshakes begin in its slices. */
  readonly loop: Pick<Loop, 'later'>;
  /** Connections that have not completed their handshake end in its slices. */
  readonly ends: Ends;
  /** The class of the handshakes; `client` by default. */
  readonly work?: WorkClass;
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
  readonly #line: HandshakeLine;
  /** By socket: to be called when its handshake has ended. */
  readonly #unfinished = new Map<Socket, () => void>();
  /** Sockets whose client hello is not there yet. */
  readonly #silent = new Set<Socket>();
  #trust: CertificateTrust;

  /** Throws when the certificates cannot be read. */
  constructor(options: TlsGateOptions) {
    const { tls, alpn, handshakeMs, logger } = options;
    this.#options = options;
    this.#line = new HandshakeLine(options.clock, options.loop, options.work);
    this.#follower = new CertificateFollower(tls, logger);
    this.#trust = new CertificateTrust(tls);
    const context = readSecureContext(tls);
    // Not imported: a node without TLS does not need its 3 MiB.
    this.#server = process.getBuiltinModule('node:tls').createServer({
      ...context,
      sessionIdContext: SESSIONS,
      ALPNCallback: protocolChooser(alpn),
      requestCert: requiresClientCertificate(tls),
      // Asks for a certificate, and tells a client that shows none. The others are decided in `#secured`.
      rejectUnauthorized: requiresClientCertificate(tls) && options.refused === undefined,
      handshakeTimeout: handshakeMs,
    });
    this.#use(context, this.#trust);
    this.#server.on('tlsClientError', (error, socket) => {
      options.rejected(underlying(socket), verificationFailure(socket) ?? error.message);
      socket.destroy();
    });
    this.#server.on('secureConnection', (socket) => this.#secured(socket));
  }

  /**
   * TLS begins when the client hello is there and its turn has come. A socket that only waits takes little memory.
   * `ended` is called once, when the handshake is complete or the client gone.
   */
  accept(socket: Socket, ended?: () => void): void {
    const { clock, handshakeMs, ends, rejected } = this.#options;
    let leave = (): void => {};
    const timer = clock.after(handshakeMs, () =>
      ends.later(() => {
        if (!this.#unfinished.has(socket)) return;
        rejected(socket, 'TLS handshake timeout');
        socket.destroy();
      }),
    );
    const finish = (): void => {
      if (!this.#unfinished.delete(socket)) return;
      this.#silent.delete(socket);
      timer.cancel();
      leave();
      ended?.();
    };
    this.#unfinished.set(socket, finish);
    this.#silent.add(socket);
    socket.once('close', finish);
    untilClientHello(socket, ends, (putBack) => {
      this.#silent.delete(socket);
      const begin = (): void => {
        if (socket.destroyed || socket.readableEnded) return; // its end waits for a slice
        putBack();
        this.#begin(socket);
      };
      leave = this.#line.push(socket.remoteAddress ?? '', begin, () => socket.destroy());
    });
  }

  /** Ends the sockets whose clients have not begun a handshake. To some of the others theirs is complete already. */
  stop(): void {
    for (const socket of this.#silent) socket.destroy();
  }

  #begin(socket: Socket): void {
    // Before the handshake begins, so that this handshake uses the new files.
    this.#follower.refresh((context, trust) => this.#use(context, trust));
    this.#server.emit('connection', socket);
  }

  /** Throws if the files do not match. */
  #use(context: SecureContextOptions, trust: CertificateTrust): void {
    const { createSecureContext } = process.getBuiltinModule('node:tls');
    const made = createSecureContext({ ...context, sessionIdContext: SESSIONS });
    // node's server passes on the options of a context that it knows, and `allowPartialTrustChain` is not one of them. So
    // its context is replaced. If a later node keeps it in another place, paths must lead to self-signed certificates.
    this.#server.setSecureContext({ ...context, sessionIdContext: SESSIONS });
    if ('_sharedCreds' in this.#server) this.#server._sharedCreds = made;
    this.#trust = trust;
  }

  #secured(socket: TLSSocket): void {
    this.#unfinished.get(underlying(socket))?.();
    socket.on('error', () => socket.destroy());
    const { tls, rejected, refused } = this.#options;
    const certificate = requiresClientCertificate(tls) ? socket.getPeerX509Certificate() : undefined;
    const failure = requiresClientCertificate(tls) ? this.#failureOf(socket, certificate) : undefined;
    const revocation = certificate && this.#trust.revocationOf(certificate);
    const refusal = failure ?? revocation ?? refusalOf(tls, certificate);
    if (refusal !== undefined) {
      rejected(underlying(socket), refusal);
      if (refused !== undefined && failure === undefined) refused(socket);
      else socket.destroy();
      return;
    }
    const commonName = certificate === undefined ? undefined : commonNameOf(certificate.toLegacyObject());
    this.#options.opened({ socket, h2: socket.alpnProtocol === 'h2', commonName });
  }

  /** Why the certificate does not come from the CA, or may not be a client's. */
  #failureOf(socket: TLSSocket, certificate: X509Certificate | undefined): string | undefined {
    if (certificate === undefined) return 'no client certificate';
    if (socket.authorized) return undefined;
    const failure = verificationFailure(socket) ?? 'not verified';
    if (failure !== 'INVALID_PURPOSE') return failure;
    return this.#trust.isForClients(certificate, Date.now()) ? undefined : failure;
  }
}

/**
 * Reads until a client hello is there, and pauses the socket. `putBack` puts the bytes back: thousands may come in one turn of
 * the event loop, so as little as possible is done for each. Destroys a socket whose client ends before that.
 */
function untilClientHello(socket: Socket, ends: Ends, found: (putBack: () => void) => void): void {
  let head: Buffer = Buffer.alloc(0);
  const gone = (): void => ends.later(() => socket.destroy());
  const look = (chunk: Buffer): void => {
    head = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
    if (!hasClientHello(head)) return;
    socket.pause();
    found(() => {
      socket.off('data', look);
      socket.off('end', gone);
      socket.allowHalfOpen = false;
      socket.unshift(head);
    });
  };
  // Otherwise node destroys the socket when its client ends, at once.
  socket.allowHalfOpen = true;
  socket.on('data', look);
  socket.on('end', gone);
}

/** Sessions of one server are not resumed at another one. */
const SESSIONS = 'engram';

/**
 * Chooses the first protocol of the server that the client offers, or ends the handshake. The function is also the only
 * place where the socket is known before its certificate is judged: node would destroy a client whose certificate OpenSSL
 * does not accept, before `#secured` could judge by Go's rules. If a later node calls it otherwise, OpenSSL's rules hold.
 */
function protocolChooser(alpn: readonly string[]): (offer: { protocols: readonly string[] }) => string | undefined {
  return function choose(this: unknown, { protocols }) {
    if (typeof this === 'object' && this !== null && '_rejectUnauthorized' in this) this._rejectUnauthorized = false;
    return alpn.find((protocol) => protocols.includes(protocol));
  };
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
