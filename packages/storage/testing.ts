// Steps for tests of adapters. They also run in child processes, without a test runner.
export { appendRecords, batches, never, record, sealOf, stream } from './contract/storage-steps.ts';
// What the child processes of tests do: open damaged storages, and append until they are killed.
export { answerChecks, type CheckRequest } from './contract/answer-checks.ts';
export { appendUntilKilled } from './contract/append-until-killed.ts';
