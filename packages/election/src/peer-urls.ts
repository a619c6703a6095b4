const schemes = new Set(['http:', 'https:', 'unix:', 'unixs:']);

/**
 * The peer URLs that etcd accepts (client/pkg/types/urls.go: NewURLs): at least one, each with a known scheme, host and
 * port and without a path. Sorted. Undefined if the texts are not such URLs.
 */
export function parsePeerUrls(texts: readonly string[]): readonly string[] | undefined {
  if (texts.length === 0) return undefined;
  const urls: string[] = [];
  for (const text of texts) {
    const trimmed = text.trim();
    if (!isPeerUrl(trimmed)) return undefined;
    urls.push(trimmed);
  }
  return urls.sort();
}

function isPeerUrl(text: string): boolean {
  // `URL` drops the default port of a scheme, but etcd requires a port.
  const match = /^([a-z]+:)\/\/([^/?#]*)(.*)$/i.exec(text);
  if (match === null || !schemes.has(match[1]!.toLowerCase())) return false;
  const [, scheme, authority, rest] = match;
  if (scheme!.toLowerCase().startsWith('unix')) return authority !== '' || rest !== '';
  if (rest !== '') return false;
  return /^(?:\[[\da-f:.%a-z]+\]|[^\s:@[\]]*):\d+$/i.test(authority!) && URL.canParse(text);
}
