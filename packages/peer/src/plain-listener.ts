import type { Socket } from 'node:net';
import type { Logger } from '@engram/core';
import type { BoundPort } from '@engram/transport';
import { type Server, ServerCredentials } from '@grpc/grpc-js';
import type { PeerSockets } from './peer-sockets.ts';

export interface PlainListenerOptions {
  /** The listener owns it. */
  readonly port: BoundPort;
  /** Serves the peers. The caller keeps ownership. */
  readonly server: Server;
  /** Keeps the sockets, and closes them. */
  readonly sockets: PeerSockets;
  readonly logger: Logger;
}

/** Serves peers without TLS. */
export function listenPlainly({ port, server, sockets, logger }: PlainListenerOptions): Disposable {
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  const accept = (socket: Socket): void => {
    sockets.accept(socket);
    injector.injectConnection(socket);
  };
  port.serve(accept, (error) => logger.error({ error }, 'listener for peers failed'));
  return {
    [Symbol.dispose]: () => {
      port.close();
      injector.destroy();
    },
  };
}
