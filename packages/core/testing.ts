// Tests and benchmarks of any package build the words from these.
export { putGroup, type PutParts } from './src/testing/put-group.ts';
