// Steps that the tests of adapters take, also in processes of their own, where no test runner is.
export { appendRecords, batches, never, record, sealOf, stream } from './contract/storage-steps.ts';
// A process that opens damaged storages, and its parent's side.
export { answerChecks, type CheckRequest } from './contract/answer-checks.ts';
export { Checker } from './contract/checker.ts';
