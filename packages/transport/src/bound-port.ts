import { rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import type { BoundAddress, ListenAddress } from './listen-address.ts';

/** Connections that the kernel holds until the listener accepts them. Go's net package takes the system's maximum, too. */
const BACKLOG = 4096;

/**
 * An address that belongs to this process, before there may be anything to serve at it. Until `serve`, connections are
 * reset at once, which clients take like a refused connection: they try again.
 */
export class BoundPort implements Disposable {
  readonly #server: Server;
  #accept: (socket: Socket) => void = (socket) => {
    socket.on('error', () => socket.destroy());
    socket.resetAndDestroy();
  };
  #failed: (error: Error) => void = () => {};

  private constructor() {
    this.#server = createServer({ noDelay: true }, (socket) => this.#accept(socket));
  }

  /** Rejects when the address is in use or not an address of this machine. */
  static bind(listen: ListenAddress): Promise<BoundPort> {
    const port = new BoundPort();
    const server = port.#server;
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      const bound = (): void => {
        server.off('error', reject);
        server.on('error', (error) => port.#failed(error));
        resolve(port);
      };
      // The socket file of a dead process would make `listen` fail. etcd removes it as well
      // (client/pkg/transport/unix_listener.go).
      if (listen.kind === 'unix') rmSync(listen.path, { force: true });
      const backlog = BACKLOG;
      if (listen.kind === 'unix') {
        server.listen({ path: listen.path, backlog }, bound);
        return;
      }
      const { host, port: number, reusePort = false } = listen;
      server.listen({ ...(host === '' ? {} : { host }), port: number, backlog, reusePort }, bound);
    });
  }

  get address(): BoundAddress {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') return { kind: 'unix', path: address ?? '' };
    return { kind: 'tcp', host: address.address, port: address.port };
  }

  /** From now on the connections are the caller's. `failed`: the system refuses to accept one. */
  serve(accept: (socket: Socket) => void, failed: (error: Error) => void): void {
    this.#accept = accept;
    this.#failed = failed;
  }

  /** Accepts no more connections. Those that were accepted stay open. May be called again. */
  close(): void {
    if (this.#server.listening) this.#server.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}
