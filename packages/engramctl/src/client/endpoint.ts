import { badArguments } from '../cli/ctl-error.ts';

/** Whether TLS is used: always, never, or if there is a configuration of it (etcd client/v3/internal/endpoint). */
export type TlsUse = 'required' | 'dropped' | 'optional';

export interface Endpoint {
  /** As it was given. */
  readonly text: string;
  /** For grpc-js: host:port, unix:path. */
  readonly address: string;
  /** Absent for a unix socket. */
  readonly host?: string;
  readonly port?: number;
  /** The path of a unix socket. */
  readonly path?: string;
  readonly tls: TlsUse;
}

/** Reads an endpoint as clientv3 does. Throws CtlError bad-arguments for one that cannot be dialled. */
export function parseEndpoint(text: string): Endpoint {
  const [, socket, path] = /^(unixs?):(?:\/\/)?(.+)$/.exec(text) ?? [];
  if (path !== undefined) {
    return { text, address: `unix:${path}`, path, tls: socket === 'unixs' ? 'required' : 'optional' };
  }
  const [, scheme, behind] = /^([a-z][a-z0-9+.-]*):\/\/(.*)$/i.exec(text) ?? [];
  if (scheme !== undefined && scheme !== 'http' && scheme !== 'https') {
    throw badArguments(`endpoint ${JSON.stringify(text)}: the scheme ${scheme} is none of http, https, unix, unixs`);
  }
  const authority = (behind ?? text).replace(/[/?#].*$/, '');
  const [, host, port] = /^(\[[0-9a-f:]+(?:%[\w.-]+)?\]|[^:[\]@\s]+):(\d{1,5})$/i.exec(authority) ?? [];
  if (host === undefined || Number(port) < 1 || Number(port) > 65_535) {
    throw badArguments(`endpoint ${JSON.stringify(text)}: expected host:port, http://host:port or unix:path`);
  }
  const tls = scheme === undefined ? 'optional' : scheme === 'https' ? 'required' : 'dropped';
  return { text, address: authority, host: host.replace(/^\[|\]$/g, ''), port: Number(port), tls };
}
