import type { ClientBudgets, Clock, Logger } from '@engram/core';
import { type Loop, type LoopWatch, unwatched } from '@engram/loop';
import { Ends } from './ends.ts';
import { CallConnection, CallServer } from './grpc/call-connection.ts';
import { CallLeads } from './grpc/call-leads.ts';
import type { ConnectionServer } from './h2/connection-server.ts';
import { Flusher } from './h2/flusher.ts';
import type { Leads } from './h2/lead.ts';
import { STREAMS_MAX } from './h2/limits.ts';
import { SlabPool } from './h2/slab-pool.ts';
import type { StreamHost } from './h2/stream-host.ts';
import type { PlainHttp } from './http/plain-http.ts';
import { RequestLeads } from './request-leads.ts';
import { type KeepaliveOptions, type ServeOptions, timeoutsOf } from './serve-options.ts';

/** State that the connections of one server share. Connects HTTP/2, gRPC and plain HTTP. */
export class ServerContext implements ConnectionServer {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly keepalive: KeepaliveOptions;
  readonly messageMaxBytes: number;
  readonly streamsMax: number;
  readonly handshakeMs: number;
  readonly budgets: ClientBudgets;
  readonly watch: LoopWatch;
  readonly calls: CallServer;
  readonly flusher: Flusher;
  readonly loop: Loop;
  readonly ends: Ends;
  readonly slabs = new SlabPool();
  readonly #options: ServeOptions;
  readonly #plain: PlainHttp;

  constructor(options: ServeOptions, budgets: ClientBudgets, plain: PlainHttp) {
    this.#options = options;
    this.clock = options.clock;
    this.logger = options.logger;
    this.keepalive = options.keepalive;
    this.messageMaxBytes = options.maxRequestBytes;
    this.streamsMax = Math.min(options.maxConcurrentStreams, STREAMS_MAX);
    this.handshakeMs = timeoutsOf(options).handshakeMs;
    this.budgets = budgets;
    this.watch = options.watch ?? unwatched;
    this.loop = plain.loop;
    this.ends = new Ends(this.loop);
    this.flusher = new Flusher(options.clock, this.loop.transport, this.watch);
    this.calls = new CallServer(options, this.loop);
    this.#plain = plain;
  }

  leads(host: StreamHost): Leads {
    const calls = new CallLeads(new CallConnection(this.calls, host));
    return new RequestLeads(this.#options, host, calls, this.#plain);
  }
}
