// A test suite for the generated codecs of a message set.
export { arbitraryInt64, ArbitraryMessages } from './contract/arbitrary-messages.ts';
export { generatedContract } from './contract/generated-contract.ts';
