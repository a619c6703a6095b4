import { generateKeyPairSync, type KeyPairKeyObjectResult } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BcryptThread } from '../src/auth/bcrypt-thread.ts';
import { jwtKeys } from '../src/auth/jwt-keys.ts';
import type { JwtMethod } from '../src/auth/jwt-method.ts';
import { readConfiguration } from '@engram/server';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'engram-auth-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('hashes of passwords', () => {
  const thread = new BcryptThread(4);

  test('are of their password, and no two are the same', async () => {
    const [one, other] = await Promise.all([thread.hash('secret'), thread.hash('secret')]);
    expect(Buffer.from(one).toString()).toMatch(/^\$2[aby]\$04\$.{53}$/);
    expect(one).not.toEqual(other);
    expect(await Promise.all(['secret', 'Secret', ''].map((text) => thread.matches(one, text)))).toEqual([
      true,
      false,
      false,
    ]);
  });

  test('of etcd count, and what is no hash matches nothing', async () => {
    // golang.org/x/crypto/bcrypt, bcrypt_test.go: TestBcryptingIsCorrect.
    const ofGo = Buffer.from('$2a$10$XajjQvNhvvRt5GSeFk1xFeyqRrsxkhBkUiQeg0dt.wU1qD4aFDcga');
    expect(await thread.matches(ofGo, 'allmine')).toBe(true);
    expect(await thread.matches(ofGo, 'allmin')).toBe(false);
    for (const none of ['', 'x', '$2a$10$', '$9z$10$XajjQvNhvvRt5GSeFk1xFeyqRrsxkhBkUiQeg0dt.wU1qD4aFDcga']) {
      expect(await thread.matches(Buffer.from(none), 'allmine')).toBe(false);
    }
  });

  test('keep the event loop free', async () => {
    let turns = 0;
    let done = false;
    const hashed = new BcryptThread(10).hash('secret').then(() => {
      done = true;
    });
    while (!done) {
      turns += 1;
      await new Promise((resolve) => setImmediate(resolve));
    }
    await hashed;
    expect(turns).toBeGreaterThan(10);
  });
});

describe('keys of JSON web tokens', () => {
  const inPem = ({ publicKey, privateKey }: KeyPairKeyObjectResult) => ({
    publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  });
  const rsa = inPem(generateKeyPairSync('rsa', { modulusLength: 2048 }));
  const pairs: Readonly<Record<string, { readonly publicKey: string; readonly privateKey: string }>> = {
    RS256: rsa,
    RS512: rsa,
    PS384: rsa,
    ES256: inPem(generateKeyPairSync('ec', { namedCurve: 'P-256' })),
    ES384: inPem(generateKeyPairSync('ec', { namedCurve: 'P-384' })),
    EdDSA: inPem(generateKeyPairSync('ed25519')),
  };
  const claims = { username: 'alice', revision: 3, exp: 5 };
  const keysOf = (method: string, publicKey?: string, privateKey?: string) =>
    jwtKeys({
      kind: 'jwt',
      method: method as JwtMethod,
      publicKey: publicKey === undefined ? undefined : Buffer.from(publicKey),
      privateKey: privateKey === undefined ? undefined : Buffer.from(privateKey),
      ttlMs: 1000,
    });

  test.each(Object.keys(pairs))('%s signs what it verifies, with both keys or one', async (method) => {
    const { publicKey, privateKey } = pairs[method]!;
    const both = await keysOf(method, publicKey, privateKey);
    const token = await both.sign!(claims);
    expect(await both.verify(token), 'whenever it ends').toEqual(claims);
    expect(await (await keysOf(method, undefined, privateKey)).verify(token)).toEqual(claims);
    const verifier = await keysOf(method, publicKey);
    expect(verifier.sign).toBeUndefined();
    expect(await verifier.verify(token)).toEqual(claims);
    const [head, body, signature] = token.split('.');
    const forged = Buffer.from(JSON.stringify({ ...claims, username: 'root' })).toString('base64url');
    for (const wrong of [
      `${head}.${forged}.${signature}`,
      `${head}.${body}.`,
      `${head}.${body}`,
      '',
      'x',
      `${token}.x`,
    ]) {
      expect(await verifier.verify(wrong), wrong).toBeUndefined();
    }
  });

  test('a token of another method does not count, also where the key would fit', async () => {
    const { publicKey, privateKey } = rsa;
    const verifier = await keysOf('RS256', publicKey);
    for (const method of ['RS512', 'PS256']) {
      expect(await verifier.verify(await (await keysOf(method, publicKey, privateKey)).sign!(claims))).toBeUndefined();
    }
    // A token that is signed with the text of the public key as a secret.
    const confused = await (await keysOf('HS256', undefined, publicKey)).sign!(claims);
    expect(await verifier.verify(confused)).toBeUndefined();
    const none = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${confused.split('.')[1]}.`;
    expect(await verifier.verify(none)).toBeUndefined();
  });

  test.each([
    ['a key of another kind', 'ES256', rsa.publicKey, undefined, /not of the method ES256/],
    [
      'two keys of different pairs',
      'RS256',
      inPem(generateKeyPairSync('rsa', { modulusLength: 2048 })).publicKey,
      rsa.privateKey,
      /not of one pair/,
    ],
    ['no key', 'RS256', 'secret text', undefined, /pub-key is no key in PEM/],
    ['no private key', 'RS256', undefined, 'secret text', /priv-key is no key in PEM/],
  ])('%s is refused at the start, and not shown', async (_, method, publicKey, privateKey, says) => {
    const failed = keysOf(method, publicKey, privateKey);
    await expect(failed).rejects.toThrow(says);
    await expect(failed).rejects.not.toThrow(/secret text|BEGIN/);
  });
});

describe('flags', () => {
  const read = async (...args: readonly string[]) => {
    const configuration = await readConfiguration(args, {});
    if (configuration.kind !== 'config') throw new Error(configuration.kind);
    return configuration.config;
  };

  test('have the defaults of etcd', async () => {
    const { auth } = await read();
    expect(auth).toEqual({ bcryptCost: 10, clientCertAuth: false, tokens: { kind: 'simple', ttlMs: 300_000 } });
  });

  test('say how users log in', async () => {
    const key = join(folder, 'key');
    writeFileSync(key, 'a key');
    expect((await read('--auth-token=')).auth.tokens).toEqual({ kind: 'none' });
    expect((await read('--auth-token-ttl=7', '--bcrypt-cost=5')).auth).toMatchObject({
      bcryptCost: 5,
      tokens: { ttlMs: 7_000 },
    });
    expect((await read(`--auth-token=jwt,sign-method=RS256,pub-key=${key},ttl=10m`)).auth.tokens).toMatchObject({
      method: 'RS256',
      publicKey: Buffer.from('a key'),
      privateKey: undefined,
      ttlMs: 600_000,
    });
    const { auth, warnings } = await read('--bcrypt-cost=32');
    expect(auth.bcryptCost).toBe(10);
    expect(warnings.join('\n')).toMatch(/--bcrypt-cost=32/);
  });

  test.each([
    ['another', /expected simple, jwt/],
    ['jwt,sign-method=none,pub-key=x', /sign-method must be one of/],
    ['jwt,sign-method=RS256', /needs pub-key or priv-key/],
    ['jwt,sign-method=HS256,pub-key=/nothing/here', /cannot read/],
    ['jwt,sign-method=RS256,pub-key', /form name=value/],
    ['jwt,sign-method=RS256,sign-method=RS512', /sign-method is given twice/],
    ['jwt,sign-method=RS256,pub-key=/nothing/here', /cannot read \/nothing\/here/],
  ])('--auth-token=%s is refused', async (text, says) => {
    await expect(read(`--auth-token=${text}`)).rejects.toThrow(says);
  });
});
