import { ChannelCredentials, ServerCredentials } from '@grpc/grpc-js';

/** A certificate and its key, PEM. */
export interface PeerCertificate {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** How members prove themselves to each other. */
export interface PeerTls {
  /** Shown to members that dial this one. */
  readonly served: PeerCertificate;
  /** Shown to members that this one dials. */
  readonly dialed: PeerCertificate;
  /** PEM. Undefined: the system's authorities. */
  readonly ca: Buffer | undefined;
  /** Whoever dials must show a certificate of `ca`'s. */
  readonly clientCertAuth: boolean;
  /**
   * Every member signs its own certificate (`--peer-auto-tls`): what is sent is encrypted, and nobody is proven to be a
   * member.
   */
  readonly selfSigned: boolean;
}

/** For dialing an https URL: the other member's certificate must be `ca`'s and name the host that is dialed. */
export function channelCredentials(tls: PeerTls | undefined): ChannelCredentials {
  if (tls === undefined) return ChannelCredentials.createInsecure();
  const { ca, dialed, selfSigned } = tls;
  return ChannelCredentials.createSsl(ca ?? null, dialed.key, dialed.cert, { rejectUnauthorized: !selfSigned });
}

export function serverCredentials(tls: PeerTls | undefined): ServerCredentials {
  if (tls === undefined) return ServerCredentials.createInsecure();
  const { ca, served, clientCertAuth } = tls;
  return ServerCredentials.createSsl(
    ca ?? null,
    [{ private_key: served.key, cert_chain: served.cert }],
    clientCertAuth,
  );
}
