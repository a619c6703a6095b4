import { join } from 'node:path';
import type { PeerTls } from '@engram/peer';
import type { PeerTlsConfig } from '../cluster/cluster-config.ts';
import { ownFolder } from './data-directory.ts';
import { selfSignedCertificate } from '../tls/self-signed-certificate.ts';
import type { ServeUrl } from '../flags/urls.ts';

/** The certificates and checks between members. With --peer-auto-tls, makes the certificate at the first start. */
export function peerTlsOf(config: PeerTlsConfig, dataDir: string, urls: readonly ServeUrl[]): PeerTls {
  const { bounds } = config;
  if (config.kind === 'auto') {
    const hosts = new Set(['localhost', '127.0.0.1', '::1', ...urls.map(({ host }) => host)]);
    hosts.delete('');
    const made = selfSignedCertificate(join(ownFolder(dataDir), 'peer-tls'), [...hosts], config.years);
    return { served: { ...made, ...bounds, clientCertAuth: false }, dialed: made, selfSigned: true };
  }
  const { served, dialed, trustedCaFile, clientCertAuth, crlFile, allowedCommonNames, allowedHostnames } = config;
  return {
    served: {
      ...served,
      ...bounds,
      ...(trustedCaFile === undefined ? {} : { trustedCaFile }),
      ...(crlFile === undefined ? {} : { crlFile }),
      clientCertAuth,
      allowedCommonNames,
      allowedHostnames,
    },
    dialed,
    selfSigned: false,
    checkDialers: config.checkDialers,
  };
}
