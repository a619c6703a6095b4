import { ChannelCredentials, ServerCredentials } from '@grpc/grpc-js';

/** PEM. Both sides show their certificate, and check the other's where `ca` is given. */
export interface PeerTls {
  readonly cert: Buffer;
  readonly key: Buffer;
  /** Undefined: the system's authorities. */
  readonly ca: Buffer | undefined;
  /** Whoever dials must show a certificate of `ca`'s. */
  readonly clientCertAuth: boolean;
  /** Names and addresses in the server's certificate are not checked. */
  readonly skipNames: boolean;
}

export function channelCredentials(tls: PeerTls | undefined): ChannelCredentials {
  if (tls === undefined) return ChannelCredentials.createInsecure();
  const verify = tls.skipNames ? { checkServerIdentity: () => undefined } : {};
  return ChannelCredentials.createSsl(tls.ca ?? null, tls.key, tls.cert, verify);
}

export function serverCredentials(tls: PeerTls | undefined): ServerCredentials {
  if (tls === undefined) return ServerCredentials.createInsecure();
  const pair = { private_key: tls.key, cert_chain: tls.cert };
  return ServerCredentials.createSsl(tls.ca ?? null, [pair], tls.clientCertAuth);
}
