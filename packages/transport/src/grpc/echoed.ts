/** What we repeat of a client's words: an answer must not be as long as what it refuses, which may be 64 KiB. */
const echoMaxLength = 256;

/** A client's text in one of ours. */
export function echoed(text: string): string {
  return text.length <= echoMaxLength ? text : `${text.slice(0, echoMaxLength)}...`;
}

/** In quotes, much as Go's %q has it. */
export function quoted(text: string): string {
  return JSON.stringify(echoed(text));
}
