// Serves a table of methods (wire) over sockets: gRPC, and plain HTTP/1.1 on the same port.
export { serve } from './src/serve.ts';
export { serveGrpcJs } from './src/grpc-js/serve.ts';
export type {
  BoundAddress,
  HttpHandler,
  HttpRequest,
  HttpResponse,
  KeepaliveOptions,
  ListenAddress,
  ServeOptions,
  Server,
  TlsOptions,
  TlsVersion,
  TransportObserver,
  TransportTimeouts,
} from './src/serve-options.ts';
