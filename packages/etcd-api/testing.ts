// For tests of the repository: calls of methods without a socket.
export { FakeCall } from './test/fake-call.ts';
export { AuthClient, fakeAuth, FakeHasher, outcome } from './test/auth-client.ts';
export { LockClient, observed, type PendingCall } from './test/lock-client.ts';
export { prepareCallers, runMatrix, runStreamMatrix, streaming } from './test/auth-matrix.ts';
export { observing, runLockMatrix, runObserveMatrix } from './test/lock-matrix.ts';
// For the simulation: the ways of a call without its message.
export { authMethods } from './src/auth/auth-service.ts';
export { authorizedMethods } from './src/auth/authorized-methods.ts';
export { CallAdmission } from './src/call-admission.ts';
export { RpcCaller } from './src/rpc-caller.ts';
export { ServiceParts } from './src/service-parts.ts';
export { watchMethods } from './src/watch-service.ts';
