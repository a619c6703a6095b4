// Frames by hand, for tests of who speaks HTTP/2.
export { codeName, frame, grpcMessage, RawFrameReader, type RawFrame, uint32 } from './src/testing/raw-frames.ts';
