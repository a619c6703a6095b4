import { X509Certificate } from 'node:crypto';
import { checkServerIdentity, createSecureContext, type PeerCertificate, type SecureContextOptions } from 'node:tls';
import type { Logger } from '@engram/core';
import {
  CertificateFollower,
  CertificateTrust,
  readSecureContext,
  refusalOf,
  type TlsOptions,
} from '@engram/transport';
import { ChannelCredentials } from '@grpc/grpc-js';

/** How members authenticate to each other. Files are read again after they change. */
export interface PeerTls {
  /** The certificate for members that dial this one, and the requirements for their certificates. */
  readonly served: TlsOptions;
  /** The certificate, PEM, for members that this one dials. Their certificates must also meet the requirements in `served`. */
  readonly dialed: { readonly certFile: string; readonly keyFile: string };
  /**
   * Every member signs its own certificate (`--peer-auto-tls`). Connections are encrypted, but a peer is not proven to be a
   * member.
   */
  readonly selfSigned: boolean;
  /** The certificate of a member that dials must belong to the address that it dials from, as in etcd. Default: not checked. */
  readonly checkDialers?: boolean;
}

/** Credentials of outgoing connections. Over an https URL the other member's certificate must also name the dialed host. */
export class DialedTls {
  #current: ChannelCredentials;
  readonly #refresh: () => void = () => {};

  /** Throws if the files cannot be read. */
  constructor(tls: PeerTls | undefined, logger: Logger) {
    if (tls === undefined) {
      this.#current = ChannelCredentials.createInsecure();
      return;
    }
    const options: TlsOptions = { ...tls.served, ...tls.dialed };
    const use = (context: SecureContextOptions, trust: CertificateTrust): void => {
      this.#current = secureCredentials(context, trust, options, tls.selfSigned);
    };
    const follower = new CertificateFollower(options, logger);
    this.#current = secureCredentials(
      readSecureContext(options),
      new CertificateTrust(options),
      options,
      tls.selfSigned,
    );
    this.#refresh = () => follower.refresh(use);
  }

  /** The same object until the files change. */
  get credentials(): ChannelCredentials {
    this.#refresh();
    return this.#current;
  }
}

function secureCredentials(
  context: SecureContextOptions,
  trust: CertificateTrust,
  tls: TlsOptions,
  selfSigned: boolean,
): ChannelCredentials {
  return ChannelCredentials.createFromSecureContext(createSecureContext(context), {
    rejectUnauthorized: !selfSigned,
    checkServerIdentity: (host, certificate) =>
      checkServerIdentity(host, certificate) ?? notAllowed(tls, trust, certificate),
  });
}

/** As in etcd, the list of allowed certificates applies to both sides of a connection. Here revoked ones do, too. */
function notAllowed(tls: TlsOptions, trust: CertificateTrust, certificate: PeerCertificate): Error | undefined {
  const peer = new X509Certificate(certificate.raw);
  const refusal = trust.revocationOf(peer) ?? refusalOf(tls, peer);
  return refusal === undefined ? undefined : new Error(refusal);
}
