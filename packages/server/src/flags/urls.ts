import { isIP } from 'node:net';

/** A URL to listen on or to advertise, by etcd's rules (client/pkg/types/urls.go). */
export interface ServeUrl {
  readonly scheme: 'http' | 'https' | 'unix' | 'unixs';
  readonly secure: boolean;
  /** For tcp, without the brackets of an IPv6 address. */
  readonly host: string;
  readonly port: number;
  /** The path of a unix socket. Undefined for tcp. As in etcd, it is everything after `unix://`, even "a:1". */
  readonly path: string | undefined;
  /** The URL as given, with its scheme in lower case. */
  readonly text: string;
}

/** Parses a list. The result is sorted by text, without duplicates, as in etcd. Returns an error text if a URL is not valid. */
export function parseUrls(list: string): readonly ServeUrl[] | string {
  const urls = new Map<string, ServeUrl>();
  for (const item of list.split(',')) {
    const url = parseUrl(item.trim());
    if (typeof url === 'string') return url;
    urls.set(url.text, url);
  }
  return [...urls.values()].sort((a, b) => (a.text < b.text ? -1 : 1));
}

function parseUrl(given: string): ServeUrl | string {
  const [, givenScheme, rest] = /^([a-zA-Z][a-zA-Z\d+.-]*):(.*)$/.exec(given) ?? [];
  const scheme = givenScheme?.toLowerCase();
  const text = scheme === undefined ? given : `${scheme}:${rest}`;
  switch (scheme) {
    case 'unix':
    case 'unixs': {
      const path = rest!.replace(/^\/\//, '');
      if (path === '') return `URL has no path of a socket: ${text}`;
      return { scheme, secure: scheme === 'unixs', host: '', port: 0, path, text };
    }
    case 'http':
    case 'https': {
      const [, authority, path] = /^\/\/([^/?#]*)(.*)$/.exec(rest!) ?? [];
      const [, host, port] = /^(\[[^\]]*\]|[^:[\]]*):(\d+)$/.exec(authority ?? '') ?? [];
      if (host === undefined || Number(port) > 65_535) return `URL address does not have the form "host:port": ${text}`;
      if (path !== '') return `URL must not contain a path: ${text}`;
      return {
        scheme,
        secure: scheme === 'https',
        host: host.replace(/^\[|\]$/g, ''),
        port: Number(port),
        path: undefined,
        text,
      };
    }
    default:
      return `URL scheme must be http, https, unix, or unixs: ${text}`;
  }
}

/** Listeners need IP addresses. The only name allowed is "localhost", the loopback (embed/config.go checkBindURLs). */
export function bindProblem(urls: readonly ServeUrl[]): string | undefined {
  const bad = urls.find(({ path, host }) => path === undefined && host !== 'localhost' && isIP(host) === 0);
  return bad && `expected IP in URL for binding (${bad.text})`;
}

/** Other members and clients must be able to dial the URL. */
export function hostProblem(urls: readonly ServeUrl[]): string | undefined {
  const bad = urls.find(({ path, host }) => path === undefined && host === '');
  return bad && `unexpected empty host (${bad.text})`;
}
