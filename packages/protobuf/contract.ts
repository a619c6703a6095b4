// What the generated codecs of a message set must do, as a test suite.
export { arbitraryInt64 } from './contract/arbitrary-messages.ts';
export { generatedContract } from './contract/generated-contract.ts';
