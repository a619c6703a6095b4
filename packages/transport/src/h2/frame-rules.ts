import { ErrorCode, Flag, FrameType, Http2Error } from '@engram/http2';

function protocolError(message: string): Http2Error {
  return new Http2Error(ErrorCode.PROTOCOL_ERROR, message);
}

function lengthError(type: string, length: number): Http2Error {
  return new Http2Error(ErrorCode.FRAME_SIZE_ERROR, `${type} of ${length} bytes`);
}

/** Checks a client's frame by the rules of RFC 9113 §6 for its type: the streams it may name and its length. */
export function checkFrame(type: number, flags: number, streamId: number, length: number): void {
  switch (type) {
    case FrameType.DATA:
    case FrameType.HEADERS:
    case FrameType.CONTINUATION:
    case FrameType.PRIORITY:
      if (streamId === 0) throw protocolError(`frame of type ${type} on stream 0`);
      return;
    case FrameType.RST_STREAM:
      if (streamId === 0) throw protocolError('RST_STREAM on stream 0');
      if (length !== 4) throw lengthError('RST_STREAM', length);
      return;
    case FrameType.SETTINGS:
      if (streamId !== 0) throw protocolError('SETTINGS on a stream');
      if ((flags & Flag.ACK) !== 0 && length !== 0) throw lengthError('SETTINGS acknowledgement', length);
      return;
    case FrameType.PUSH_PROMISE:
      throw protocolError('PUSH_PROMISE from a client');
    case FrameType.PING:
      if (streamId !== 0) throw protocolError('PING on a stream');
      if (length !== 8) throw lengthError('PING', length);
      return;
    case FrameType.GOAWAY:
      if (streamId !== 0) throw protocolError('GOAWAY on a stream');
      if (length < 8) throw lengthError('GOAWAY', length);
      return;
    case FrameType.WINDOW_UPDATE:
      if (length !== 4) throw lengthError('WINDOW_UPDATE', length);
      return;
  }
}

/** Bytes of padding, including the length byte; 0 if the frame has none. */
export function paddingBytes(flags: number, bytes: Uint8Array, start: number, end: number): number {
  if ((flags & Flag.PADDED) === 0) return 0;
  if (start === end) throw new Http2Error(ErrorCode.FRAME_SIZE_ERROR, 'padded frame without a pad length');
  const padding = 1 + bytes[start]!;
  if (padding > end - start) throw protocolError('more padding than frame');
  return padding;
}
