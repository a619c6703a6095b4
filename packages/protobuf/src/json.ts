/** How a scalar stands in JSON. The 64-bit kinds say which value the message has for it: see `Kind` of the schema. */
export type JsonScalar =
  | 'bool'
  | 'bytes'
  | 'string'
  | 'int32'
  | 'uint32'
  | `${'' | 'u'}int64-${'number' | 'exact' | 'big'}`;

/** A field: its name in the .proto file, its name and its number in the message, and its form. The generator makes one for each. */
export interface JsonField {
  readonly proto: string;
  readonly name: string;
  readonly number: number;
  /** A function for what is declared later. Enums are tables of numbers by name. */
  readonly type: JsonScalar | (() => JsonMessage) | Readonly<Record<string, number>>;
  readonly repeated?: true;
  /** The names of the other fields of its oneof: it is written whenever it is set. */
  readonly rivals?: readonly string[];
}

/** A message type: what is read into, and its fields. */
export interface JsonMessage {
  readonly fresh: () => object;
  readonly fields: readonly JsonField[];
}

/** Bound on the depth of messages that are read. Each level takes stack; no request of etcd needs more than a few. */
export const JSON_DEPTH_MAX = 100;
/** What an integer of each kind may be. */
export const integerBounds = {
  int32: [-(2n ** 31n), 2n ** 31n - 1n],
  uint32: [0n, 2n ** 32n - 1n],
  int64: [-(2n ** 63n), 2n ** 63n - 1n],
  uint64: [0n, 2n ** 64n - 1n],
} as const;
