// Steps that the tests of adapters take, also in processes of their own, where no test runner is.
export { appendRecords, batches, type Expected, never, outcomeOf, record, stream } from './contract/storage-steps.ts';
