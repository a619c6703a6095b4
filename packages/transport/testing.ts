// For tests that need TLS: certificates made on the spot.
export { issue } from './test/support/certificates.ts';
