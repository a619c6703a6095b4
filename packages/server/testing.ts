// For the fuzzer: what reads the keys of tokens, and how it refuses a file.
export { jwtKeys } from './src/auth/jwt-keys.ts';
export { ConfigError } from './src/flags/flag-values.ts';
// For the fuzzer, too: what is in use behind a collection.
export { garbageCollector } from './src/collect-garbage.ts';
// For docs/FLAGS.md.
export { fileOnlySettings } from './src/flags/flag-table.ts';
export { helpSections } from './src/flags/usage.ts';
export type { FlagGroup, FlagSpec } from './src/flags/flag-spec.ts';
