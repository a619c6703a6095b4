import type { Clock, Logger } from '@engram/core';
import type { Method, MethodTable } from '@engram/wire';
import { DeadlineWheel } from '../deadline-wheel.ts';
import {
  type HttpHandler,
  type KeepaliveOptions,
  type ServeOptions,
  timeoutsOf,
  type TransportObserver,
} from '../serve-options.ts';
import { Flusher } from './flusher.ts';
import { Inflation } from './inflation.ts';
import { STREAMS_MAX } from './limits.ts';
import { SlabPool } from './slab-pool.ts';
import type { SenderCommons } from './sender.ts';

/** What the connections of one server share. */
export class ServerContext implements SenderCommons {
  readonly methods: MethodTable;
  readonly http: HttpHandler;
  readonly protocols: ServeOptions['protocols'];
  readonly clock: Clock;
  readonly logger: Logger;
  readonly observer: TransportObserver | undefined;
  readonly keepalive: KeepaliveOptions;
  readonly messageMaxBytes: number;
  readonly bodyMaxBytes: number;
  readonly streamsMax: number;
  readonly handshakeMs: number;
  readonly deadlines: DeadlineWheel;
  readonly inflation: Inflation;
  readonly flusher = new Flusher();
  readonly slabs = new SlabPool();
  readonly #services: ReadonlySet<string>;

  constructor(options: ServeOptions) {
    this.methods = options.methods;
    this.http = options.http;
    this.protocols = options.protocols;
    this.clock = options.clock;
    this.logger = options.logger;
    this.observer = options.observer;
    this.keepalive = options.keepalive;
    this.messageMaxBytes = options.maxRequestBytes;
    this.bodyMaxBytes = 2 * options.maxRequestBytes;
    this.streamsMax = Math.min(options.maxConcurrentStreams, STREAMS_MAX);
    this.handshakeMs = timeoutsOf(options).handshakeMs;
    this.deadlines = new DeadlineWheel(options.clock);
    this.inflation = new Inflation(options.clock);
    this.#services = new Set([...options.methods.keys()].map((path) => path.slice(1, path.lastIndexOf('/'))));
  }

  readonly knowsService = (service: string): boolean => this.#services.has(service);

  method(path: string): Method | undefined {
    return this.methods.get(path);
  }
}
