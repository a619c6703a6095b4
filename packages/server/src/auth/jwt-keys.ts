import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { compactVerify, CompactSign, errors } from 'jose';
import { ConfigError } from '../flags/flag-values.ts';
import type { TokenConfig } from './auth-config.ts';
import type { JwtMethod } from './jwt-method.ts';

/** What etcd's tokens say. */
interface Claims {
  readonly username: string;
  readonly revision: number;
  readonly exp: number;
}

/** The port `JwtKeys` of package auth. */
export interface JwtKeyPair {
  verify(token: string): Promise<unknown>;
  readonly sign: ((claims: Claims) => Promise<string>) | undefined;
}

/**
 * The method and the keys of JSON web tokens. Only tokens of the very method are taken. Signatures are made and verified outside
 * of the event loop. Throws ConfigError for a key that is none, or not of the method. Nothing of a key is in a text.
 */
export async function jwtKeys({
  method,
  publicKey,
  privateKey,
}: Extract<TokenConfig, { kind: 'jwt' }>): Promise<JwtKeyPair> {
  const signing = privateKey && secretOf(method, privateKey);
  const verifying = signing instanceof Uint8Array ? signing : publicOf(publicKey, signing);
  const pair: JwtKeyPair = {
    async verify(token) {
      try {
        const { payload } = await compactVerify(token, verifying, { algorithms: [method] });
        return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(payload));
      } catch (error) {
        if (error instanceof errors.JOSEError || error instanceof SyntaxError || error instanceof TypeError) {
          return undefined;
        }
        throw error;
      }
    },
    sign:
      signing === undefined
        ? undefined
        : (claims) =>
            new CompactSign(Buffer.from(JSON.stringify(claims)))
              .setProtectedHeader({ alg: method, typ: 'JWT' })
              .sign(signing),
  };
  await tryKeys(pair, method, verifying);
  return pair;
}

/** A pair of another algorithm, size or curve is found at the start, and not at the first log-in. */
async function tryKeys(pair: JwtKeyPair, method: JwtMethod, verifying: KeyObject | Uint8Array): Promise<void> {
  try {
    if (pair.sign === undefined) {
      // A signature of nothing is wrong, and not a fault of the key.
      await compactVerify(`${encoded({ alg: method })}.e30.AAAA`, verifying, { algorithms: [method] });
      return;
    }
    const token = await pair.sign({ username: '', revision: 0, exp: 0 });
    if ((await pair.verify(token)) !== undefined) return;
  } catch (cause) {
    if (cause instanceof errors.JWSSignatureVerificationFailed) return;
    throw new ConfigError(`--auth-token=jwt: a key is not of the method ${method}`, { cause });
  }
  throw new ConfigError('--auth-token=jwt: pub-key and priv-key are not of one pair');
}

const encoded = (header: object): string => Buffer.from(JSON.stringify(header)).toString('base64url');

function secretOf(method: JwtMethod, bytes: Uint8Array): KeyObject | Uint8Array {
  if (method.startsWith('HS')) return bytes;
  return keyOf('priv-key', () => createPrivateKey(Buffer.from(bytes)));
}

function publicOf(bytes: Uint8Array | undefined, signing: KeyObject | undefined): KeyObject {
  return keyOf('pub-key', () =>
    bytes === undefined ? createPublicKey(signing!) : createPublicKey(Buffer.from(bytes)),
  );
}

function keyOf(name: string, read: () => KeyObject): KeyObject {
  try {
    return read();
  } catch {
    throw new ConfigError(`--auth-token=jwt: ${name} is no key in PEM`);
  }
}
