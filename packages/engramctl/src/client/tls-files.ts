import { readFileSync } from 'node:fs';
import { createSecureContext, type SecureContext } from 'node:tls';
import { CtlError, messageOf } from '../cli/ctl-error.ts';

/** TLS as etcdctl's flags ask for it. The files have been read. */
export interface TlsSettings {
  readonly context: SecureContext;
  readonly skipVerify: boolean;
  /** The name that certificates must have, instead of the host of the endpoint. */
  readonly serverName: string;
  /** The client's own certificates and the authorities, in PEM, by the flag that named them. */
  readonly files: readonly { readonly flag: string; readonly pem: string }[];
}

export interface TlsFlags {
  readonly cert: string;
  readonly key: string;
  readonly cacert: string;
  readonly insecureTransport: boolean;
  readonly skipVerify: boolean;
  readonly serverName: string;
}

/**
 * Undefined where plain text is wanted (client/v3/config.go: newTLSConfig). Throws CtlError bad-arguments if a file cannot be read
 * or used.
 */
export function readTls({
  cert,
  key,
  cacert,
  insecureTransport,
  skipVerify,
  serverName,
}: TlsFlags): TlsSettings | undefined {
  const wanted = cert !== '' || key !== '' || cacert !== '' || serverName !== '' || !insecureTransport || skipVerify;
  if (!wanted) return undefined;
  if ((cert === '') !== (key === '')) {
    throw new CtlError('bad-arguments', `KeyFile and CertFile must both be present[key: ${key}, cert: ${cert}]`);
  }
  const [certificate, privateKey, authorities] = [cert, key, cacert].map(fileText);
  try {
    const context = createSecureContext({
      minVersion: 'TLSv1.2',
      // As in Go, a path to any certificate of the file is enough.
      allowPartialTrustChain: true,
      ...(certificate === undefined ? {} : { cert: certificate }),
      ...(privateKey === undefined ? {} : { key: privateKey }),
      ...(authorities === undefined ? {} : { ca: authorities }),
    });
    const files = [
      ...(certificate === undefined ? [] : [{ flag: '--cert', pem: certificate }]),
      ...(authorities === undefined ? [] : [{ flag: '--cacert', pem: authorities }]),
    ];
    return { context, skipVerify, serverName, files };
  } catch (cause) {
    const given = [cert, key, cacert].filter((path) => path !== '').join(', ');
    throw new CtlError('bad-arguments', `the TLS files ${given} cannot be used: ${messageOf(cause)}`, { cause });
  }
}

function fileText(path: string): string | undefined {
  if (path === '') return undefined;
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new CtlError('bad-arguments', `cannot read ${path}: ${messageOf(cause)}`, { cause });
  }
}

/** What an endpoint with `https` has where no flag says more: the authorities of the system. */
export const systemTls = (): TlsSettings => ({
  context: createSecureContext({ minVersion: 'TLSv1.2' }),
  skipVerify: false,
  serverName: '',
  files: [],
});
