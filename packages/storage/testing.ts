// Steps that the tests of adapters take, also in processes of their own, where no test runner is.
export { appendRecords, batches, never, record, sealOf, stream } from './contract/storage-steps.ts';
// What processes do that tests start: open damaged storages, and append until they are killed.
export { answerChecks, type CheckRequest } from './contract/answer-checks.ts';
export { appendUntilKilled } from './contract/append-until-killed.ts';
