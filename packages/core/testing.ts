// What tests and benchmarks of any package build the words from.
export { putGroup, type PutParts } from './src/testing/put-group.ts';
