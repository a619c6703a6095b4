import type { Random } from '@engram/core';
import type { AuthSettings } from '@engram/member';
import type { AuthConfig } from './auth-config.ts';
import { BcryptThread } from './bcrypt-thread.ts';

/** Throws ConfigError for keys that are not to be used. */
export async function authSettings(
  { bcryptCost, clientCertAuth, tokens }: AuthConfig,
  random: Random,
): Promise<AuthSettings> {
  return {
    hasher: new BcryptThread(bcryptCost),
    random,
    clientCertAuth,
    tokens: tokens.kind === 'jwt' ? { kind: 'jwt', keys: await keysOf(tokens), ttlMs: tokens.ttlMs } : tokens,
  };
}

/** The library is loaded where it is asked for. */
async function keysOf(tokens: Extract<AuthConfig['tokens'], { kind: 'jwt' }>) {
  const { jwtKeys } = await import('./jwt-keys.ts');
  return jwtKeys(tokens);
}
