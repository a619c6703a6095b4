import type { Socket } from 'node:net';
import type { Logger } from '@engram/core';
import type { BoundPort } from '@engram/transport';
import { type Server, ServerCredentials } from '@grpc/grpc-js';

export interface PlainListenerOptions {
  /** The listener owns it. */
  readonly port: BoundPort;
  /** Serves the peers. The caller keeps ownership. */
  readonly server: Server;
  readonly logger: Logger;
}

/** Serves peers without TLS. Disposing it ends their connections. */
export function listenPlainly({ port, server, logger }: PlainListenerOptions): Disposable {
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  const sockets = new Set<Socket>();
  const accept = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
    injector.injectConnection(socket);
  };
  port.serve(accept, (error) => logger.error({ error }, 'listener for peers failed'));
  return {
    [Symbol.dispose]: () => {
      port.close();
      for (const socket of sockets) socket.destroy();
      injector.destroy();
    },
  };
}
