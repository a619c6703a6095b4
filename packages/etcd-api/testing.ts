// For tests of the repository: a call of a method without a socket.
export { FakeCall } from './test/fake-call.ts';
