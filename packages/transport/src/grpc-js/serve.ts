import * as grpc from '@grpc/grpc-js';
import { joinMessage, type Message } from '@engram/wire';
import { Http1Server } from '../http/http1.ts';
import { PlainHttp } from '../http/plain-http.ts';
import { Listener } from '../listener.ts';
import { budgetsOf, DRAIN_MAX_MS, type ServeOptions, type Server } from '../serve-options.ts';
import { serverOf } from '../server-of.ts';
import { bidiHandler, type CallEnvironment, serverStreamHandler, unaryHandler } from './calls.ts';

const alpn = { both: ['h2', 'http/1.1'], grpc: ['h2'], http: ['http/1.1'] } as const;
const identity = (bytes: Buffer): Buffer => bytes;
/** 2^31 - 1 bytes, as in etcd. */
const maxSendBytes = 2 ** 31 - 1;

function encode(message: Message): Buffer {
  const whole = joinMessage(message);
  return Buffer.from(whole.buffer, whole.byteOffset, whole.length);
}

function grpcServerOf(options: ServeOptions, environment: CallEnvironment): grpc.Server {
  const { keepalive } = options;
  const server = new grpc.Server({
    'grpc.enable_channelz': 0,
    'grpc.max_receive_message_length': options.maxRequestBytes,
    'grpc.max_send_message_length': maxSendBytes,
    'grpc.max_concurrent_streams': options.maxConcurrentStreams,
    ...(keepalive.intervalMs > 0 ? { 'grpc.keepalive_time_ms': Math.min(keepalive.intervalMs, 2 ** 31 - 1) } : {}),
    'grpc.keepalive_timeout_ms': keepalive.timeoutMs,
  });
  for (const [path, method] of options.methods) {
    switch (method.kind) {
      case 'unary':
        server.register(path, unaryHandler(method, environment), encode, identity, 'unary');
        break;
      case 'server-stream':
        server.register(path, serverStreamHandler(method, environment), encode, identity, 'serverStream');
        break;
      case 'bidi':
        server.register(path, bidiHandler(method, environment), encode, identity, 'bidi');
        break;
    }
  }
  return server;
}

/**
 * Serves with @grpc/grpc-js: the slow but well-known implementation that Engram's own codec is compared with. It does
 * not enforce `keepalive.minTimeMs`, and answers requests over HTTP/2 that are not gRPC with 415 also under TLS.
 */
export async function serveGrpcJs(options: ServeOptions): Promise<Server> {
  const streams: CallEnvironment['streams'] = new Set();
  const unixPath = options.listen.kind === 'unix' ? options.listen.path : undefined;
  const environment: CallEnvironment = { clock: options.clock, unixPath, streams, draining: false };
  const server = grpcServerOf(options, environment);
  const injector = server.createConnectionInjector(grpc.ServerCredentials.createInsecure());
  const budgets = budgetsOf(options);
  const plain = new PlainHttp(options, budgets);
  const http1 = new Http1Server(options, plain);
  const listener = new Listener(options, budgets, plain.loop, alpn[options.protocols], (connection) => {
    if (connection.protocol === 'h2') injector.injectConnection(connection.socket);
    else http1.accept(connection);
  });
  const address = await listener.listen();

  const ends = {
    drain: () => {
      environment.draining = true;
      for (const stream of streams) stream.stop();
      injector.drain(DRAIN_MAX_MS);
    },
    close: () => {
      injector.destroy();
      server.forceShutdown();
    },
    gone: async () => {},
  };
  return serverOf(address, listener, http1, ends, options);
}
