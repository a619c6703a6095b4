import { readFileSync } from 'node:fs';
import { parseGoDuration } from '@engram/core';
import { ConfigError, type FlagValues } from '../flags/flag-values.ts';

import { checkReadable } from '../flags/readable-file.ts';
import { BCRYPT_COST_MAX, BCRYPT_COST_MIN } from './bcrypt-thread.ts';
import { type JwtMethod, jwtMethods } from './jwt-method.ts';

/** How users log in, checked. */
export interface AuthConfig {
  readonly bcryptCost: number;
  /** Clients say who they are by their certificate, if they have no token. */
  readonly clientCertAuth: boolean;
  readonly tokens: TokenConfig;
}

export type TokenConfig =
  | { readonly kind: 'simple'; readonly ttlMs: number }
  | {
      readonly kind: 'jwt';
      readonly method: JwtMethod;
      /** The contents of the files. At least one is there. */
      readonly publicKey: Uint8Array | undefined;
      readonly privateKey: Uint8Array | undefined;
      readonly ttlMs: number;
    }
  | { readonly kind: 'none' };

const JWT_TTL_MS = 300_000;
const SIMPLE_TTL_MS = 300_000;
const BCRYPT_COST_DEFAULT = 10;

/** Throws ConfigError. Source: etcd server/auth/store.go: NewTokenProvider, options.go. */
export function authConfig(values: FlagValues, warnings: string[]): AuthConfig {
  return {
    bcryptCost: bcryptCost(values.number('bcrypt-cost'), warnings),
    clientCertAuth: values.bool('client-cert-auth'),
    tokens: tokenConfig(values.text('auth-token'), values.number('auth-token-ttl')),
  };
}

/** Another cost than bcrypt knows is that of the default, as in etcd. */
function bcryptCost(cost: number, warnings: string[]): number {
  if (cost >= BCRYPT_COST_MIN && cost <= BCRYPT_COST_MAX) return cost;
  warnings.push(
    `--bcrypt-cost=${cost} is not in ${BCRYPT_COST_MIN} to ${BCRYPT_COST_MAX}: ${BCRYPT_COST_DEFAULT} is used`,
  );
  return BCRYPT_COST_DEFAULT;
}

function tokenConfig(text: string, ttlSeconds: number): TokenConfig {
  const [kind = '', ...rest] = text.split(',');
  if (text === '') return { kind: 'none' };
  if (kind === 'simple') return { kind, ttlMs: ttlSeconds * 1000 || SIMPLE_TTL_MS };
  if (kind !== 'jwt') throw new ConfigError(`--auth-token=${kind}: expected simple, jwt with its options, or nothing`);
  const options = new Map<string, string>();
  for (const option of rest) {
    const parts = option.split('=');
    // The value may be the name of a secret file, and is not shown.
    if (parts.length !== 2) throw new ConfigError('--auth-token=jwt: options have the form name=value');
    if (options.has(parts[0]!)) throw new ConfigError(`--auth-token=jwt: ${parts[0]} is given twice`);
    options.set(parts[0]!, parts[1]!);
  }
  const method = jwtMethods.find((one) => one === options.get('sign-method'));
  if (method === undefined) {
    throw new ConfigError(`--auth-token=jwt: sign-method must be one of ${jwtMethods.join(', ')}`);
  }
  const publicKey = keyFile(options, 'pub-key');
  const privateKey = keyFile(options, 'priv-key');
  if (method.startsWith('HS') && privateKey === undefined) {
    throw new ConfigError(`--auth-token=jwt: ${method} needs priv-key`);
  }
  if (publicKey === undefined && privateKey === undefined) {
    throw new ConfigError('--auth-token=jwt: needs pub-key or priv-key');
  }
  return { kind, method, publicKey, privateKey, ttlMs: jwtTtlMs(options.get('ttl')) };
}

function keyFile(options: ReadonlyMap<string, string>, name: string): Uint8Array | undefined {
  const path = options.get(name);
  if (path === undefined || path === '') return undefined;
  checkReadable(`auth-token=jwt: ${name}`, path);
  return readFileSync(path);
}

function jwtTtlMs(text: string | undefined): number {
  if (text === undefined) return JWT_TTL_MS;
  const ttlMs = parseGoDuration(text);
  if (ttlMs === undefined || ttlMs <= 0) throw new ConfigError(`--auth-token=jwt: ttl=${text} is no duration above 0`);
  return ttlMs;
}
