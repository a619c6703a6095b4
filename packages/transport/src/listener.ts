import type { X509Certificate } from 'node:crypto';
import { rmSync } from 'node:fs';
import { createServer, type Server as NetServer, Socket } from 'node:net';
import { createServer as createTlsServer, type Server as TlsServer, TLSSocket } from 'node:tls';
import { commonNameOf, refusalOf } from './client-certificate.ts';
import { type Protocol, sniffProtocol } from './preface-sniffer.ts';
import { type BoundAddress, type ServeOptions, timeoutsOf, type TlsOptions } from './serve-options.ts';
import { CertificateFollower, readSecureContext, requiresClientCertificate } from './tls-context.ts';

/** A connection that has shown what it speaks. Its socket is paused; the first bytes are still in it. */
export interface Accepted {
  readonly socket: Socket;
  readonly protocol: Protocol;
  readonly peer: string;
  readonly secure: boolean;
  readonly commonName: string | undefined;
}

/** Connections that the kernel holds until we take them. Go's net package takes the system's maximum, too. */
const backlog = 4096;

/** Accepts connections, ends TLS, tells the protocol, and hands each on. Knows every socket, so that all can be cut. */
export class Listener {
  readonly #options: ServeOptions;
  readonly #alpn: readonly string[];
  readonly #accept: (connection: Accepted) => void;
  readonly #server: NetServer | TlsServer;
  readonly #sockets = new Set<Socket>();
  /** Who is at the other end: a socket that is closed cannot tell any more. */
  readonly #peers = new WeakMap<Socket, string>();
  /** Those in plain text that have not said what they speak. */
  readonly #undecided = new Set<Socket>();

  /** `alpn` is what TLS offers. Throws when the certificates cannot be read. */
  constructor(options: ServeOptions, alpn: readonly string[], accept: (connection: Accepted) => void) {
    this.#options = options;
    this.#alpn = alpn;
    this.#accept = accept;
    this.#server = options.tls === undefined ? this.#plain() : this.#secure(options.tls);
  }

  /** Rejects when the address is taken or not ours. */
  listen(): Promise<BoundAddress> {
    const { listen } = this.#options;
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      const bound = (): void => {
        this.#server.off('error', reject);
        this.#server.on('error', (error) => this.#options.logger.error({ error }, 'listener failed'));
        resolve(this.#address());
      };
      // A socket file that a dead process left would keep us out; etcd removes it as well (client/pkg/transport/unix_listener.go).
      if (listen.kind === 'unix') rmSync(listen.path, { force: true });
      if (listen.kind === 'unix') this.#server.listen({ path: listen.path, backlog }, bound);
      else if (listen.host === '') this.#server.listen({ port: listen.port, backlog }, bound);
      else this.#server.listen({ host: listen.host, port: listen.port, backlog }, bound);
    });
  }

  /** Takes no more connections; those that were handed on stay. */
  stop(): void {
    if (this.#server.listening) this.#server.close();
    for (const socket of this.#undecided) socket.destroy();
  }

  cut(): void {
    this.stop();
    for (const socket of this.#sockets) socket.destroy();
  }

  get open(): number {
    return this.#sockets.size;
  }

  /** Resolves when the last connection is gone. */
  whenEmpty(): Promise<void> {
    if (this.#sockets.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const look = (): void => {
        if (this.#sockets.size === 0) resolve();
      };
      // After the socket's own close handler, which forgets it.
      for (const socket of this.#sockets) socket.once('close', look);
    });
  }

  #address(): BoundAddress {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') return { kind: 'unix', path: address ?? '' };
    return { kind: 'tcp', host: address.address, port: address.port };
  }

  #plain(): NetServer {
    const { clock, protocols } = this.#options;
    const { handshakeMs } = timeoutsOf(this.#options);
    return createServer({ noDelay: true }, (socket) => {
      this.#know(socket);
      this.#undecided.add(socket);
      sniffProtocol(socket, clock, handshakeMs, (protocol) => {
        this.#undecided.delete(socket);
        if (protocols === 'both' || (protocols === 'grpc') === (protocol === 'h2')) this.#hand(socket, protocol);
        else socket.destroy();
      });
    });
  }

  #secure(tls: TlsOptions): TlsServer {
    const { logger, protocols } = this.#options;
    const follower = new CertificateFollower(tls, logger);
    const server = createTlsServer({
      ...readSecureContext(tls),
      ALPNProtocols: [...this.#alpn],
      requestCert: requiresClientCertificate(tls),
      rejectUnauthorized: requiresClientCertificate(tls),
      handshakeTimeout: timeoutsOf(this.#options).handshakeMs,
      noDelay: true,
    });
    // Before TLS takes the socket, so that this very handshake sees the new files.
    server.prependListener('connection', (socket: Socket) => {
      follower.refresh((context) => server.setSecureContext(context));
      this.#know(socket);
    });
    server.on('tlsClientError', (error, socket) => {
      logger.warn(
        { peer: this.#peer(underlying(socket)), error: error.message },
        'rejected connection on client endpoint',
      );
      socket.destroy();
    });
    server.on('secureConnection', (socket) => {
      socket.on('error', () => socket.destroy());
      const refusal = refusalOf(tls, verifiedCertificate(socket));
      const protocol = socket.alpnProtocol === 'h2' ? 'h2' : 'http1';
      if (refusal !== undefined) {
        logger.warn({ peer: this.#peer(socket), error: refusal }, 'rejected connection on client endpoint');
        socket.destroy();
      } else if (protocol === 'http1' && protocols === 'grpc') {
        socket.destroy();
      } else {
        this.#hand(socket, protocol);
      }
    });
    return server;
  }

  #know(socket: Socket): void {
    const { observer } = this.#options;
    this.#sockets.add(socket);
    this.#peers.set(socket, this.#peer(socket));
    observer?.connectionOpened();
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      this.#sockets.delete(socket);
      this.#undecided.delete(socket);
      observer?.connectionClosed();
    });
  }

  #peer(socket: Socket): string {
    const known = this.#peers.get(socket);
    if (known !== undefined) return known;
    const { listen } = this.#options;
    if (listen.kind === 'unix') return listen.path;
    const { remoteAddress: host, remotePort: port } = socket;
    return host?.includes(':') === true ? `[${host}]:${port}` : `${host}:${port}`;
  }

  #hand(socket: Socket, protocol: Protocol): void {
    const secure = socket instanceof TLSSocket;
    const certificate = secure ? verifiedCertificate(socket) : undefined;
    const commonName = certificate === undefined ? undefined : commonNameOf(certificate.toLegacyObject());
    this.#accept({ socket, protocol, peer: this.#peer(socket), secure, commonName });
  }
}

/** What a TLS socket stands on. Node keeps it in a property that it does not document; without it, the socket itself. */
function underlying(socket: TLSSocket): Socket {
  const parent: unknown = '_parent' in socket ? socket._parent : undefined;
  return parent instanceof Socket ? parent : socket;
}

function verifiedCertificate(socket: TLSSocket): X509Certificate | undefined {
  return socket.authorized ? socket.getPeerX509Certificate() : undefined;
}
