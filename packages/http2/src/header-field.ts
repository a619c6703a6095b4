/** The header names that a server reads, as small numbers for a switch. */
export const HeaderName = {
  OTHER: 0,
  METHOD: 1,
  SCHEME: 2,
  PATH: 3,
  AUTHORITY: 4,
  CONTENT_TYPE: 5,
  TE: 6,
  GRPC_TIMEOUT: 7,
  GRPC_ENCODING: 8,
  CONTENT_LENGTH: 9,
  HOST: 10,
  /** Headers of a single HTTP/1.1 connection. A request with one is malformed (RFC 9113 §8.2.2). */
  CONNECTION_SPECIFIC: 11,
  /** An unknown name that begins with a colon. */
  UNKNOWN_PSEUDO: 12,
} as const;

const known: ReadonlyMap<string, number> = new Map([
  [':method', HeaderName.METHOD],
  [':scheme', HeaderName.SCHEME],
  [':path', HeaderName.PATH],
  [':authority', HeaderName.AUTHORITY],
  ['content-type', HeaderName.CONTENT_TYPE],
  ['te', HeaderName.TE],
  ['grpc-timeout', HeaderName.GRPC_TIMEOUT],
  ['grpc-encoding', HeaderName.GRPC_ENCODING],
  ['content-length', HeaderName.CONTENT_LENGTH],
  ['host', HeaderName.HOST],
  ['connection', HeaderName.CONNECTION_SPECIFIC],
  ['keep-alive', HeaderName.CONNECTION_SPECIFIC],
  ['proxy-connection', HeaderName.CONNECTION_SPECIFIC],
  ['transfer-encoding', HeaderName.CONNECTION_SPECIFIC],
  ['upgrade', HeaderName.CONNECTION_SPECIFIC],
]);

/** The size of a field in tables and lists, besides its text (RFC 7541 §4.1). */
export const FIELD_OVERHEAD_BYTES = 32;

/**
 * One field of a header list, made once and shared by all requests that refer to it in a table. Name and value have one
 * character for each byte.
 */
export class HeaderField {
  readonly name: string;
  readonly value: string;
  /** One of HeaderName. */
  readonly known: number;
  readonly size: number;
  /** Whether the name or value has forbidden bytes (RFC 9113 §8.2.1). A request with such a field is malformed. */
  readonly malformed: boolean;
  readonly #nameMalformed: boolean;

  /** `namesake`, if given, is a field of the same name; the name is then not checked again. */
  constructor(name: string, value: string, namesake?: HeaderField) {
    this.name = name;
    this.value = value;
    this.size = name.length + value.length + FIELD_OVERHEAD_BYTES;
    if (namesake === undefined) {
      this.known = known.get(name) ?? (name.startsWith(':') ? HeaderName.UNKNOWN_PSEUDO : HeaderName.OTHER);
      this.#nameMalformed = this.known === HeaderName.OTHER && !validName.test(name);
    } else {
      this.known = namesake.known;
      this.#nameMalformed = namesake.#nameMalformed;
    }
    this.malformed = this.#nameMalformed || !isValidValue(value);
  }
}

/** Visible ASCII without capitals and colons. Unknown names with a leading colon are malformed anyway. */
const validName = /^[!-9;-@[-~]+$/;

/**
 * No control characters except the tab, as in Go (golang.org/x/net/http/httpguts: ValidHeaderFieldValue). Blanks at the
 * ends are valid, against RFC 9113 §8.2.1, because etcd accepts them. A loop, because values are short and many
 * requests have new ones.
 */
function isValidValue(value: string): boolean {
  for (let at = 0; at < value.length; at += 1) {
    const code = value.charCodeAt(at);
    if (code >= 0x20 ? code === 0x7f : code !== 0x09) return false;
  }
  return true;
}
