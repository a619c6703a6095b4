// For tests of other packages and for benchmarks: certificates created on the fly, and a client that can send any frame.
export { type CertificateCase, certificateCases } from './test/support/certificate-cases.ts';
export {
  type Identity,
  issue,
  type IssueOptions,
  revocationList,
  revocationListDer,
} from './test/support/certificates.ts';
export { clientHello } from './test/support/client-hello.ts';
export { frame, grpcHeaders, grpcMessage, RawClient, type RawFrame, uint32 } from './test/support/raw-client.ts';
export { revokedSerials } from './src/revocation-list.ts';
