import { isIP } from 'node:net';

/** Where to listen, or what to tell clients, as etcd's URLs have it (client/pkg/types/urls.go). */
export interface ServeUrl {
  readonly scheme: 'http' | 'https' | 'unix' | 'unixs';
  readonly secure: boolean;
  /** Of tcp; brackets of an IPv6 address are gone. */
  readonly host: string;
  readonly port: number;
  /** Of a socket in the file system; undefined for tcp. etcd takes what follows `unix://` as it stands, "a:1" too. */
  readonly path: string | undefined;
  /** As it was given. */
  readonly text: string;
}

/** Sorted by text and without doubles, as etcd keeps them; a text says what is wrong with them. */
export function parseUrls(list: string): readonly ServeUrl[] | string {
  const urls = new Map<string, ServeUrl>();
  for (const item of list.split(',')) {
    const url = parseUrl(item.trim());
    if (typeof url === 'string') return url;
    urls.set(url.text, url);
  }
  return [...urls.values()].sort((a, b) => (a.text < b.text ? -1 : 1));
}

function parseUrl(text: string): ServeUrl | string {
  const [, scheme, rest] = /^([a-zA-Z][a-zA-Z\d+.-]*):(.*)$/.exec(text) ?? [];
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

/** One listens on addresses; of names only "localhost", which stands for the loopback (embed/config.go checkBindURLs). */
export function bindProblem(urls: readonly ServeUrl[]): string | undefined {
  const bad = urls.find(({ path, host }) => path === undefined && host !== 'localhost' && isIP(host) === 0);
  return bad && `expected IP in URL for binding (${bad.text})`;
}

/** Others must be able to dial it. */
export function hostProblem(urls: readonly ServeUrl[]): string | undefined {
  const bad = urls.find(({ path, host }) => path === undefined && host === '');
  return bad && `unexpected empty host (${bad.text})`;
}
