// A reference implementation of protobuf's JSON mapping.
export { fromJson, toJson } from './src/testing/json-mapping.ts';
