import type { Socket } from 'node:net';
import { addressShare, HolderShares, type ClientBudgets } from '@engram/core';
import type { Loop, Task } from '@engram/loop';
import { BoundPort } from './bound-port.ts';
import { Ends } from './ends.ts';
import { type Protocol, sniffProtocol } from './preface-sniffer.ts';
import type { BoundAddress } from './listen-address.ts';
import { type ServeOptions, timeoutsOf, type TlsOptions } from './serve-options.ts';
import { TlsGate } from './tls-gate.ts';

const OPEN: Task = { work: 'client', caller: 'openings', stage: 'open' };

/** A connection whose protocol is known. Its socket is paused, and the first bytes are still in it. */
export interface Accepted {
  readonly socket: Socket;
  readonly protocol: Protocol;
  readonly peer: string;
  readonly secure: boolean;
  readonly commonName: string | undefined;
}

/** Accepts connections, finds out the protocol of each and hands it on. Keeps every socket, so that `cut` can destroy all. */
export class Listener {
  readonly #options: ServeOptions;
  readonly #accept: (connection: Accepted) => void;
  #port: BoundPort | undefined;
  readonly #tls: TlsGate | undefined;
  readonly #loop: Loop;
  readonly #ends: Ends;
  readonly #shares: HolderShares<string>;
  readonly #handshakes: HolderShares<string>;
  readonly #sockets = new Set<Socket>();
  /** The address of each socket's client: a closed socket no longer has it. */
  readonly #peers = new WeakMap<Socket, string>();
  /** Plain-text sockets whose protocol is not known yet. */
  readonly #undecided = new Set<Socket>();

  /** `alpn` is the list of protocols that TLS offers. Throws when the certificates cannot be read. */
  constructor(
    options: ServeOptions,
    budgets: ClientBudgets,
    loop: Loop,
    alpn: readonly string[],
    accept: (connection: Accepted) => void,
  ) {
    this.#options = options;
    this.#accept = accept;
    this.#loop = loop;
    this.#ends = new Ends(loop);
    this.#shares = new HolderShares<string>(budgets.connections);
    this.#handshakes = new HolderShares<string>(budgets.handshakes);
    this.#tls = options.tls === undefined ? undefined : this.#tlsGate(options.tls, alpn);
  }

  /** Rejects when the address is in use or not an address of this machine, unless its port is bound already. */
  async listen(): Promise<BoundAddress> {
    const { port, listen, logger } = this.#options;
    this.#port = port ?? (await BoundPort.bind(listen));
    this.#port.serve(
      (socket) => this.#arrived(socket),
      (error) => logger.error({ error }, 'listener failed'),
    );
    return this.#port.address;
  }

  /** Accepts no more connections. Connections that were handed on stay open. */
  stop(): void {
    this.#port?.close();
    this.#tls?.stop();
    for (const socket of this.#undecided) socket.destroy();
  }

  cut(): void {
    this.stop();
    this.#ends.stop();
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
      // Runs after the socket's first close handler, which removes the socket from the set.
      for (const socket of this.#sockets) socket.once('close', look);
    });
  }

  #arrived(socket: Socket): void {
    const { logger } = this.#options;
    const host = addressShare(socket.remoteAddress ?? '');
    const peer = this.#peerOf(socket);
    socket.on('error', () => socket.destroy());
    if (!this.#enter(host)) {
      logger.warn({ peer }, 'connection refused: there are too many, or too many from this address');
      socket.resetAndDestroy();
      return;
    }
    this.#ends.pace(socket);
    this.#sockets.add(socket);
    this.#peers.set(socket, peer);
    socket.on('close', () => {
      this.#shares.leave(host);
      this.#sockets.delete(socket);
      this.#undecided.delete(socket);
    });
    if (this.#tls === undefined) this.#sniff(socket, peer);
    else this.#tls.accept(socket, () => this.#handshakes.leave(host));
  }

  /** Takes the places of a connection, and of a handshake under TLS. */
  #enter(host: string): boolean {
    if (!this.#shares.enter(host)) return false;
    if (this.#tls === undefined || this.#handshakes.enter(host)) return true;
    this.#shares.leave(host);
    return false;
  }

  #sniff(socket: Socket, peer: string): void {
    const { clock, protocols } = this.#options;
    const { handshakeMs } = timeoutsOf(this.#options);
    this.#undecided.add(socket);
    sniffProtocol(socket, clock, handshakeMs, this.#ends, (protocol) => {
      // Thousands of clients may say what they want in one turn of the event loop.
      this.#loop.later(OPEN, () => {
        this.#undecided.delete(socket);
        if (socket.destroyed) return;
        if (protocols === 'both' || (protocols === 'grpc') === (protocol === 'h2')) {
          this.#accept({ socket, protocol, peer, secure: false, commonName: undefined });
        } else {
          socket.destroy();
        }
      });
    });
  }

  #tlsGate(tls: TlsOptions, alpn: readonly string[]): TlsGate {
    const { clock, logger, protocols } = this.#options;
    return new TlsGate({
      tls,
      alpn,
      handshakeMs: timeoutsOf(this.#options).handshakeMs,
      logger,
      clock,
      loop: this.#loop,
      ends: this.#ends,
      opened: ({ socket, h2, commonName }) => {
        const protocol = h2 ? 'h2' : 'http1';
        this.#ends.pace(socket);
        if (protocol === 'http1' && protocols === 'grpc') socket.destroy();
        else this.#accept({ socket, protocol, peer: this.#peerOf(socket), secure: true, commonName });
      },
      rejected: (socket, error) => {
        const peer = this.#peers.get(socket);
        logger.warn({ peer, error }, 'rejected connection on client endpoint');
      },
    });
  }

  #peerOf({ remoteAddress: host, remotePort: port }: Socket): string {
    const { listen } = this.#options;
    if (listen.kind === 'unix') return listen.path;
    return host?.includes(':') === true ? `[${host}]:${port}` : `${host}:${port}`;
  }
}
