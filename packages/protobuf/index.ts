// What generated codecs stand on, and what callers say to them.
export { type Codec, decode, encode } from './src/codec.ts';
export type { Init } from './src/init.ts';
export { Reader } from './src/reader.ts';
export { Writer } from './src/writer.ts';
export { WireError } from './src/wire-error.ts';

// Fields written by hand, in rising order, into a buffer of known size.
export {
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
