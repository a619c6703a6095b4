import { assert } from '@engram/core';
import { Loop } from '@engram/loop';
import { Server } from '@grpc/grpc-js';
import { channelOptions, peerService } from './methods.ts';
import { type Exchange, type Follow, PeerCalls } from './peer-calls.ts';
import type { PeerServerOptions } from './peer-server-options.ts';
import { PeerSockets } from './peer-sockets.ts';
import { listenPlainly } from './plain-listener.ts';
import { ReceiveLimits } from './receive-limits.ts';
import { listenSecurely } from './secure-listener.ts';

export interface PeerServer extends AsyncDisposable {
  /** Sends a Raft message to a member over the connection that the member has made. False: there is none, or too much waits in it. */
  send(member: bigint, bytes: Uint8Array): boolean;
  /** The member list has changed: streams of those that are no members any more end. */
  review(): void;
  /** The sockets of peers. */
  readonly sockets: number;
}

/** A member has two streams on a connection. */
const STREAMS_MAX = 16;

/** Serves the other members. Throws if the certificate of a secure port cannot be used; the ports are closed then. */
export function servePeers(options: PeerServerOptions): PeerServer {
  using opened = new DisposableStack();
  for (const { port } of options.ports) opened.use(port);
  const loop = options.loop ?? new Loop(options);
  const limits = new ReceiveLimits();
  const sockets = new PeerSockets(options.clock);
  const server = new Server({
    ...channelOptions,
    'grpc.max_concurrent_streams': STREAMS_MAX,
    interceptors: [limits.intercept],
  });
  const connection = new PeerCalls(options, loop, limits, sockets);
  server.addService(peerService, {
    exchange: (call: Exchange) => connection.exchange(call),
    follow: (call: Follow) => void connection.follow(call),
  });
  const { tls, logger, clock } = options;
  for (const { port, secure } of options.ports) {
    assert(!secure || tls !== undefined, 'a secure address has a certificate');
    if (secure) opened.use(listenSecurely({ port, tls: tls!, server, sockets, logger, clock, loop }));
    else opened.use(listenPlainly({ port, server, sockets, logger }));
  }
  const listeners = opened.move();
  return {
    send: (member, bytes) => connection.send(member, bytes),
    review: () => connection.review(),
    get sockets() {
      return sockets.count;
    },
    [Symbol.asyncDispose]: async () => {
      connection.close();
      listeners.dispose();
      sockets.closeAll();
      server.forceShutdown();
    },
  };
}
