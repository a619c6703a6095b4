import type { PureJob, Task } from '@engram/loop';
import { Connection } from './h2/connection.ts';
import { SWEEP_INTERVAL_MS } from './h2/limits.ts';
import { Http1Server } from './http/http1.ts';
import { PlainHttp } from './http/plain-http.ts';
import { Listener } from './listener.ts';
import { ServerContext } from './server-context.ts';
import { budgetsOf, type ServeOptions, type Server } from './serve-options.ts';
import { serverOf } from './server-of.ts';

const SWEEP: Task = { work: 'client', caller: 'sweep', stage: 'sweep' };
const SWEEP_STEPS = 8;

/** Under TLS, a client may choose HTTP/2 for plain HTTP, too. */
const alpn = { both: ['h2', 'http/1.1'], grpc: ['h2'], http: ['h2', 'http/1.1'] } as const;

/** Serves with the codec of this package: HTTP/2 and gRPC directly on the socket. Rejects when the address is in use. */
export async function serve(options: ServeOptions): Promise<Server> {
  const budgets = budgetsOf(options);
  const plain = new PlainHttp(options, budgets);
  const context = new ServerContext(options, budgets, plain);
  const connections = new Set<Connection>();
  let allGone = (): void => {};
  const http1 = new Http1Server(options, plain);
  const listener = new Listener(options, budgets, plain.loop, alpn[options.protocols], (accepted) => {
    if (accepted.protocol === 'http1') {
      http1.accept(accepted);
      return;
    }
    const connection = new Connection(context, accepted, (gone) => {
      connections.delete(gone);
      if (connections.size === 0) allGone();
    });
    connections.add(connection);
    if (draining) connection.drain(); // the handshake ended after `drain` began
  });
  let draining = false;
  const address = await listener.listen();

  /** One at a time: several would share the slices of one caller, and come to the last connections ever later. */
  let sweeping = false;
  function sweep(): void {
    if (!sweeping) void plain.loop.run(SWEEP, sweepAll());
    sweeper = options.clock.after(SWEEP_INTERVAL_MS, sweep);
  }
  /** Each connection may let calls start that waited. */
  function* sweepAll(): PureJob<void> {
    sweeping = true;
    try {
      for (const connection of connections) {
        connection.sweep(options.clock.nowMs());
        if (plain.loop.shouldYield(SWEEP_STEPS)) yield;
      }
    } finally {
      sweeping = false;
    }
  }
  let sweeper = options.clock.after(SWEEP_INTERVAL_MS, sweep);

  const ends = {
    drain: () => {
      draining = true;
      for (const connection of connections) connection.drain();
    },
    close: () => {
      sweeper.cancel();
      context.calls.deadlines.stop();
    },
    gone: async () => {
      // Some streams may not have been notified yet.
      if (connections.size > 0) await new Promise<void>((resolve) => (allGone = resolve));
    },
  };
  return serverOf(address, listener, http1, ends, options);
}
