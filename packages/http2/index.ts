// HTTP/2 without a socket.
export {
  CLIENT_PREFACE,
  DEFAULT_HEADER_TABLE_BYTES,
  DEFAULT_MAX_FRAME_BYTES,
  DEFAULT_WINDOW_BYTES,
  ErrorCode,
  Flag,
  FRAME_HEADER_BYTES,
  FrameType,
  LARGEST_STREAM_ID,
  LARGEST_WINDOW_BYTES,
  SettingId,
} from './src/constants.ts';
export { Http2Error } from './src/http2-error.ts';

// Frames.
export { FrameReader } from './src/frame-reader.ts';
export {
  goAwayFrame,
  headersFrames,
  pingFrame,
  putFrameHeader,
  putUint32,
  readUint32,
  rstStreamFrame,
  settingsAckFrame,
  settingsFrame,
  windowUpdateFrame,
} from './src/frame-writer.ts';
export { readSettings } from './src/settings.ts';

// Header blocks.
export { HeaderField, HeaderName } from './src/header-field.ts';
export { HpackDecoder, type FieldSink } from './src/hpack-decoder.ts';
export { HpackEncoder, type FieldToEncode } from './src/hpack-encoder.ts';
