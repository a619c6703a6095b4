// For tests of other packages and for benchmarks: certificates made on the spot, and a client that says any frame.
export { issue } from './test/support/certificates.ts';
export { frame, grpcHeaders, grpcMessage, RawClient, type RawFrame, uint32 } from './test/support/raw-client.ts';
