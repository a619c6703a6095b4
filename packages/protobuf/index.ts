// The runtime of generated codecs, and types and functions for its users.
export { type Codec, decode, encode } from './src/codec.ts';
export type { Init } from './src/init.ts';
export { integerBounds, JSON_DEPTH_MAX, type JsonField, type JsonMessage, type JsonScalar } from './src/json.ts';
export { Reader, REQUEST_FIELDS_MAX } from './src/reader.ts';
export { Writer } from './src/writer.ts';
export { WireError } from './src/wire-error.ts';

// For messages that are assembled by hand in a buffer of known size, in ascending order of fields.
export {
  onlyBigInt64,
  sizeBig,
  sizeExact,
  sizeInt64,
  sizeString,
  sizeVarint,
  writeBig,
  writeExact,
  writeInt64,
  writeString,
  writeVarint,
} from './src/varint.ts';
