// Serves a table of methods (wire) over sockets: gRPC and plain HTTP on the same port.
export { BoundPort } from './src/bound-port.ts';
export { Ends } from './src/ends.ts';
export { serve } from './src/serve.ts';
export { serveGrpcJs } from './src/grpc-js/load.ts';
export type {
  HttpHandler,
  HttpRequest,
  HttpResponse,
  KeepaliveOptions,
  ServeOptions,
  Server,
  TlsOptions,
  TlsVersion,
  TransportTimeouts,
  WebSocketPiece,
  WebSockets,
  WebSocketSession,
} from './src/serve-options.ts';

// For packages that serve or connect by themselves.
export { isForAddress, refusalOf } from './src/client-certificate.ts';
export { opensslCiphers } from './src/tls-ciphers.ts';
export { CertificateTrust } from './src/certificate-trust.ts';
export { CertificateFollower, readSecureContext } from './src/tls-context.ts';
export { TlsGate } from './src/tls-gate.ts';
export type { BoundAddress, ListenAddress } from './src/listen-address.ts';
