const schemes = new Set(['http:', 'https:', 'unix:', 'unixs:']);

/**
 * What etcd takes for peer URLs (client/pkg/types/urls.go: NewURLs): at least one, of a known scheme, with host and port
 * and no path. Sorted; undefined: they are none.
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
  // URL drops a port that is its scheme's usual one, and etcd wants it to be there.
  const match = /^([a-z]+:)\/\/([^/?#]*)(.*)$/i.exec(text);
  if (match === null || !schemes.has(match[1]!.toLowerCase())) return false;
  const [, scheme, authority, rest] = match;
  if (scheme!.toLowerCase().startsWith('unix')) return authority !== '' || rest !== '';
  if (rest !== '') return false;
  return /^(?:\[[\da-f:.%a-z]+\]|[^\s:@[\]]*):\d+$/i.test(authority!) && URL.canParse(text);
}
