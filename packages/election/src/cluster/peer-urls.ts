const schemes = new Set(['http:', 'https:']);

/**
 * The peer URLs that etcd accepts (client/pkg/types/urls.go: NewURLs) and that members of this program can dial: at least one,
 * each with http or https, host and port and without a path. Sorted. Undefined if the texts are not such URLs. etcd takes
 * `unix` and `unixs` as well.
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
  const [, , authority, rest] = match;
  if (rest !== '') return false;
  return /^(?:\[[\da-f:.%a-z]+\]|[^\s:@[\]\\]+):\d+$/i.test(authority!) && URL.canParse(text);
}
