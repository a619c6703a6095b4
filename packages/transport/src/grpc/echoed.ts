/** Limit for a client's text in an answer: a refused text may have 64 KiB, and the answer must not be that long. */
const echoMaxLength = 256;

/** Shortens a client's text for use in a message of the server. */
export function echoed(text: string): string {
  return text.length <= echoMaxLength ? text : `${text.slice(0, echoMaxLength)}...`;
}

/** The shortened text in quotes, much like Go's %q. */
export function quoted(text: string): string {
  return JSON.stringify(echoed(text));
}
