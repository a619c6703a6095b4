// For tests of the repository: calls of methods without a socket.
export { FakeCall } from './test/fake-call.ts';
export { AuthClient, fakeAuth, FakeHasher, outcome } from './test/auth-client.ts';
export { LockClient, observed, type PendingCall } from './test/lock-client.ts';
