import type { EventEmitter } from 'node:events';
import type { X509Certificate } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Clock, Logger } from '@engram/core';
import type { Loop } from '@engram/loop';
import type { TLSSocket } from 'node:tls';
import { type BoundPort, Ends, TlsGate } from '@engram/transport';
import { Server, ServerCredentials, status } from '@grpc/grpc-js';
import { addressFault } from './dialer-address.ts';
import { channelOptions, peerService } from './methods.ts';
import type { PeerSockets } from './peer-sockets.ts';
import { STRANGER_BYTES_MAX } from './receive-limits.ts';
import type { PeerTls } from './tls.ts';

export interface SecureListenerOptions {
  /** The listener owns it. */
  readonly port: BoundPort;
  readonly tls: PeerTls;
  /** Serves the allowed peers. The caller keeps ownership. */
  readonly server: Server;
  /** Keeps the sockets, and closes them. */
  readonly sockets: PeerSockets;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly loop: Loop;
}

const HANDSHAKE_MS = 10_000;
/** Time that a refused peer has to read the reason. */
const REFUSED_MS = 1000;

/** The answer to a refused peer. It does not say which certificates are allowed; this member's log does. */
const REFUSED_TEXT = 'the certificate of this peer is not allowed: the log of the member that it has dialed says why';

/**
 * Serves peers over TLS. The handshake fails for a peer whose certificate is not verified. A peer whose certificate is
 * verified but not allowed gets the refusal as the answer to its first call, from a server that only refuses: TLS cannot
 * report it after the handshake.
 */
export function listenSecurely(options: SecureListenerOptions): Disposable {
  const { port, tls, server, sockets, logger, clock, loop } = options;
  const insecure = ServerCredentials.createInsecure(); // the gate terminates TLS before the server
  const allowed = server.createConnectionInjector(insecure);
  const refusing = refusingServer();
  const refused = refusing.createConnectionInjector(insecure);
  const peers = new WeakMap<Socket, string>();
  const refuse = (socket: TLSSocket): void => {
    socket.setTimeout(REFUSED_MS, () => socket.destroy());
    refused.injectConnection(socket);
  };
  const gate = new TlsGate({
    tls: tls.served,
    alpn: ['h2'],
    handshakeMs: HANDSHAKE_MS,
    logger,
    clock,
    loop,
    ends: new Ends(loop),
    // Without its connections a member neither votes nor follows.
    work: 'consensus',
    opened: ({ socket, h2 }) => {
      const certificate = tls.checkDialers === true ? socket.getPeerX509Certificate() : undefined;
      if (!h2) socket.destroy();
      else if (certificate === undefined) allowed.injectConnection(socket);
      else void admit(socket, certificate);
    },
    rejected: (socket, error) =>
      logger.warn({ peer: peers.get(socket), error }, 'rejected connection on peer endpoint'),
    refused: (socket) => refuse(socket),
  });
  const admit = async (socket: TLSSocket, certificate: X509Certificate): Promise<void> => {
    const peer = `${socket.remoteAddress}:${socket.remotePort}`;
    const error = await addressFault(certificate, socket.remoteAddress ?? '');
    if (socket.destroyed) return;
    if (error === undefined) {
      allowed.injectConnection(socket);
      return;
    }
    logger.warn({ peer, error }, 'rejected connection on peer endpoint');
    refuse(socket);
  };
  const accept = (socket: Socket): void => {
    peers.set(socket, `${socket.remoteAddress}:${socket.remotePort}`);
    sockets.accept(socket);
    gate.accept(socket);
  };
  port.serve(accept, (error) => logger.error({ error }, 'listener for peers failed'));
  return {
    [Symbol.dispose]: () => {
      port.close();
      allowed.destroy();
      refused.destroy();
      refusing.forceShutdown();
    },
  };
}

/** Who is refused gets no more memory than a stranger. A member has two streams on a connection. */
const refusingOptions = {
  ...channelOptions,
  'grpc.max_receive_message_length': STRANGER_BYTES_MAX,
  'grpc.max_concurrent_streams': 2,
};

function refusingServer(): Server {
  const server = new Server(refusingOptions);
  const error = { code: status.PERMISSION_DENIED, details: REFUSED_TEXT };
  const refuse = (call: EventEmitter): void => void call.emit('error', error);
  server.addService(peerService, { exchange: refuse, follow: refuse });
  return server;
}
