import type { Clock } from '@engram/core';
import { type Loop, type LoopWatch, unwatched } from '@engram/loop';
import type { Method } from '@engram/wire';
import { DeadlineWheel } from '../deadline-wheel.ts';
import type { StreamHost } from '../h2/stream-host.ts';
import type { ServeOptions } from '../serve-options.ts';
import { MessageWriter } from './message-writer.ts';

/** One method of the table. */
export interface ServedMethod {
  readonly path: string;
  readonly method: Method;
}

/** State that the calls of one server share. */
export class CallServer {
  readonly methods: ReadonlyMap<string, ServedMethod>;
  readonly clock: Clock;
  readonly watch: LoopWatch;
  readonly messageMaxBytes: number;
  readonly deadlines: DeadlineWheel;
  readonly #services: ReadonlySet<string>;

  constructor({ methods, clock, maxRequestBytes, watch }: ServeOptions, loop: Loop) {
    this.methods = new Map([...methods].map(([path, method]) => [path, { path, method }]));
    this.clock = clock;
    this.watch = watch ?? unwatched;
    this.messageMaxBytes = maxRequestBytes;
    this.deadlines = new DeadlineWheel(clock, loop);
    this.#services = new Set([...methods.keys()].map((path) => path.slice(1, path.lastIndexOf('/'))));
  }

  readonly knowsService = (service: string): boolean => this.#services.has(service);
}

/** State that the calls of one connection share. */
export class CallConnection {
  readonly server: CallServer;
  readonly host: StreamHost;
  readonly messages: MessageWriter;

  constructor(server: CallServer, host: StreamHost) {
    this.server = server;
    this.host = host;
    this.messages = new MessageWriter(host.sender);
  }
}
