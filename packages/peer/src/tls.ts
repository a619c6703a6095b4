import { X509Certificate } from 'node:crypto';
import { checkServerIdentity, createSecureContext, type PeerCertificate, type SecureContextOptions } from 'node:tls';
import type { Logger } from '@engram/core';
import { CertificateFollower, readSecureContext, refusalOf, type TlsOptions } from '@engram/transport';
import { ChannelCredentials } from '@grpc/grpc-js';

/** How members prove themselves to each other. Files are read anew after they change. */
export interface PeerTls {
  /** Shown to members that dial this one, and what their certificates must be. */
  readonly served: TlsOptions;
  /** Shown to members that this one dials, PEM. Their certificates must be what `served` asks for, too. */
  readonly dialed: { readonly certFile: string; readonly keyFile: string };
  /**
   * Every member signs its own certificate (`--peer-auto-tls`): what is sent is encrypted, and nobody is proven to be a
   * member.
   */
  readonly selfSigned: boolean;
}

/** What a dialer shows and asks for: over an https URL the certificate must also name the host that is dialed. */
export class DialedTls {
  #current: ChannelCredentials;
  readonly #refresh: () => void = () => {};

  /** Throws when the files cannot be read. */
  constructor(tls: PeerTls | undefined, logger: Logger) {
    if (tls === undefined) {
      this.#current = ChannelCredentials.createInsecure();
      return;
    }
    const options: TlsOptions = { ...tls.served, ...tls.dialed };
    const use = (context: SecureContextOptions): void => {
      this.#current = secureCredentials(context, options, tls.selfSigned);
    };
    const follower = new CertificateFollower(options, logger);
    this.#current = secureCredentials(readSecureContext(options), options, tls.selfSigned);
    this.#refresh = () => follower.refresh(use);
  }

  /** The same object as long as the files are the same. */
  get credentials(): ChannelCredentials {
    this.#refresh();
    return this.#current;
  }
}

function secureCredentials(context: SecureContextOptions, tls: TlsOptions, selfSigned: boolean): ChannelCredentials {
  return ChannelCredentials.createFromSecureContext(createSecureContext(context), {
    rejectUnauthorized: !selfSigned,
    checkServerIdentity: (host, certificate) => checkServerIdentity(host, certificate) ?? notAllowed(tls, certificate),
  });
}

/** As in etcd, the list of who may be a member counts for both sides of a connection. */
function notAllowed(tls: TlsOptions, { raw }: PeerCertificate): Error | undefined {
  const refusal = refusalOf(tls, new X509Certificate(raw));
  return refusal === undefined ? undefined : new Error(refusal);
}
