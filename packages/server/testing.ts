// For the fuzzer: what reads the keys of tokens, and how it refuses a file.
export { jwtKeys } from './src/auth/jwt-keys.ts';
export { ConfigError } from './src/flags/flag-values.ts';
