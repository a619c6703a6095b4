import { describe, expect, test } from 'vitest';
import {
  type AuthInfo,
  identify,
  type JwtClaims,
  type JwtKeys,
  JwtTokens,
  nobody,
  presentedToken,
  simpleToken,
  simpleTokenIndex,
  simpleTokenPrefix,
  SimpleTokens,
  tokenDigest,
  type TokenProvider,
} from '@engram/auth';
import { after, disable, info, withAlice } from './states.ts';

/** Time that a test moves. */
class FakeClock {
  ms = 1_700_000_000_000;
  nowMs = (): number => this.ms;
  wallMs = (): number => this.ms;
}

/** Tokens without a signature: JSON, or nothing. */
class FakeJwt implements JwtKeys {
  verified = 0;
  sign: JwtKeys['sign'] = async (claims) => JSON.stringify(claims);
  async verify(token: string): Promise<unknown> {
    this.verified += 1;
    return token.startsWith('{') ? JSON.parse(token) : undefined;
  }
}

describe('a simple token', () => {
  test('is 16 letters, each as likely as the others, a dot and a position', () => {
    // 2^32 is 48 above a multiple of 52: draws from there on would favour the first letters, and are drawn again.
    const again = [2 ** 32 - 48, 2 ** 32 - 1];
    const draws = [0, 25, 26, ...again, 51, 52, 2 ** 32 - 49, ...new Array<number>(10).fill(1)];
    expect(simpleTokenPrefix({ uint32: () => draws.shift()! })).toBe('azAZaZbbbbbbbbbb');
    expect(simpleToken('kQwErTyUiOpAsDfG', 42)).toBe('kQwErTyUiOpAsDfG.42');
  });

  test.each([
    ['kQwErTyUiOpAsDfG.42', 42],
    ['x.0', 0],
    ['x', undefined],
    ['x.1.2', undefined],
    ['x.', undefined],
    ['x.-1', undefined],
    ['x.1e3', undefined],
    ['x.18446744073709551615', undefined],
    ['', undefined],
  ])('tells its position: %j is %s', (token, index) => {
    expect(simpleTokenIndex(token)).toBe(index);
  });

  test('lives 300 seconds from its last use on', () => {
    const clock = new FakeClock();
    const tokens = new SimpleTokens({ clock });
    expect(tokens.assign(tokenDigest('a.1'), 'alice')).toBe(true);
    clock.ms += 300_000;
    expect(tokens.userOf('a.1')).toBe('alice');
    clock.ms += 300_000;
    expect(tokens.userOf('a.1')).toBe('alice');
    clock.ms += 300_001;
    expect(tokens.userOf('a.1')).toBeUndefined();
    expect(tokens.userOf('unknown.1')).toBeUndefined();
  });

  test('ends in its time also where another one is used all the time', () => {
    const clock = new FakeClock();
    const tokens = new SimpleTokens({ clock });
    tokens.assign(tokenDigest('a.1'), 'alice');
    expect(tokens.userOf('a.1')).toBe('alice');
    tokens.assign(tokenDigest('b.1'), 'bob');
    for (let use = 0; use < 4; use += 1) {
      clock.ms += 100_000;
      expect(tokens.userOf('a.1')).toBe('alice');
    }
    expect(tokens.userOf('b.1')).toBeUndefined();
    tokens.endUser('alice');
    expect(tokens.userOf('a.1')).toBeUndefined();
  });

  test('that has ended is dropped by any call, and used ones stay', () => {
    const clock = new FakeClock();
    const tokens = new SimpleTokens({ clock, ttlMs: 1_000 });
    for (let index = 0; index < 10; index += 1) tokens.assign(tokenDigest(`a${index}.1`), 'alice');
    clock.ms += 600;
    tokens.userOf('a3.1');
    tokens.assign(tokenDigest('b.1'), 'bob');
    clock.ms += 600;
    expect(tokens.userOf('none.1')).toBeUndefined();
    expect(tokens.size).toBe(2);
    expect([tokens.userOf('a3.1'), tokens.userOf('b.1'), tokens.userOf('a4.1')]).toEqual(['alice', 'bob', undefined]);
  });

  test('is known by its secret part alone, of which the log has the digest', () => {
    const tokens = new SimpleTokens({ clock: new FakeClock() });
    const digest = tokenDigest('kQwErTyUiOpAsDfG');
    expect(digest).toHaveLength(32);
    expect(Buffer.from(digest).toString('latin1')).not.toContain('kQwE');
    tokens.assign(digest, 'alice');
    const texts = ['kQwErTyUiOpAsDfG.42', 'kQwErTyUiOpAsDfG.43', 'kQwErTyUiOpAsDfG'];
    expect(texts.map((token) => tokens.userOf(token))).toEqual(['alice', 'alice', 'alice']);
    expect(tokens.userOf(Buffer.from(digest).toString('latin1'))).toBeUndefined();
    tokens.endUser('alice');
    expect(tokens.userOf(texts[0]!)).toBeUndefined();
  });

  test('belongs to the first user that it is assigned to', () => {
    const tokens = new SimpleTokens({ clock: new FakeClock() });
    tokens.assign(tokenDigest('a.1'), 'alice');
    expect(tokens.assign(tokenDigest('a.1'), 'bob')).toBe(false);
    expect(tokens.userOf('a.1')).toBe('alice');
  });

  test('ends with its user, and with all others when authentication is disabled', () => {
    const tokens = new SimpleTokens({ clock: new FakeClock() });
    for (const [token, user] of [
      ['a.1', 'alice'],
      ['b.2', 'bob'],
      ['c.3', 'alice'],
    ] as const) {
      tokens.assign(tokenDigest(token), user);
    }
    tokens.endUser('alice');
    expect([tokens.userOf('a.1'), tokens.userOf('b.2'), tokens.userOf('c.3')]).toEqual([undefined, 'bob', undefined]);
    tokens.endAll();
    expect(tokens.size).toBe(0);
  });

  test('that was not used for the longest time ends where there are too many', () => {
    const tokens = new SimpleTokens({ clock: new FakeClock(), tokensMax: 2 });
    tokens.assign(tokenDigest('a.1'), 'a');
    tokens.assign(tokenDigest('b.1'), 'b');
    tokens.userOf('a.1');
    tokens.assign(tokenDigest('c.1'), 'c');
    expect([tokens.userOf('a.1'), tokens.userOf('b.1'), tokens.userOf('c.1')]).toEqual(['a', undefined, 'c']);
  });
});

/** Whose token it is, verified if need be. */
async function infoOf(tokens: JwtTokens, token: string): Promise<AuthInfo | undefined> {
  await tokens.verifying(token);
  return tokens.known(token);
}

describe('a JWT', () => {
  const make = (options: { readonly verifiedMax?: number } = {}) => {
    const clock = new FakeClock();
    const keys = new FakeJwt();
    return { clock, keys, tokens: new JwtTokens({ keys, clock, ...options }) };
  };
  const claims = (over: Readonly<Record<string, unknown>> = {}): string =>
    JSON.stringify({ username: 'alice', revision: 3, exp: 1_700_000_300, ...over });

  test("has etcd's claims, and ends after five minutes", async () => {
    const { clock, tokens } = make();
    clock.ms += 999;
    const signed = await tokens.sign('alice', 3);
    if (!('token' in signed)) throw new Error(signed.code);
    expect(JSON.parse(signed.token) as JwtClaims).toEqual({ username: 'alice', revision: 3, exp: 1_700_000_300 });
    expect(await infoOf(tokens, signed.token)).toEqual({ user: 'alice', authRevision: 3 });
    clock.ms = 1_700_000_299_999;
    expect(await infoOf(tokens, signed.token)).toEqual({ user: 'alice', authRevision: 3 });
    clock.ms += 1;
    expect(await infoOf(tokens, signed.token)).toBeUndefined();
    expect(await infoOf(tokens, signed.token)).toBeUndefined();
    expect(tokens.size).toBe(0);
  });

  test('is not signed with a key to verify', async () => {
    const { keys, tokens } = make();
    keys.sign = undefined;
    expect(await tokens.sign('alice', 3)).toEqual({ code: 'VerifyOnlyKey' });
    expect(await infoOf(tokens, claims())).toEqual({ user: 'alice', authRevision: 3 });
  });

  test('is verified once, and then known at once', async () => {
    const { keys, tokens } = make();
    await infoOf(tokens, claims());
    expect(tokens.verifying(claims())).toBeUndefined();
    expect(tokens.known(claims())).toEqual({ user: 'alice', authRevision: 3 });
    expect(keys.verified).toBe(1);
    await infoOf(tokens, 'forged');
    await infoOf(tokens, 'forged');
    expect(keys.verified).toBe(3);
    expect(tokens.size).toBe(1);
  });

  test('that several calls wait for is verified once, and they go on in their order', async () => {
    const { keys, tokens } = make();
    const order: number[] = [];
    const calls = [1, 2, 3].map(async (call) => {
      expect(await infoOf(tokens, claims())).toEqual({ user: 'alice', authRevision: 3 });
      order.push(call);
    });
    await Promise.all(calls);
    expect(order).toEqual([1, 2, 3]);
    expect(keys.verified).toBe(1);
  });

  test('is forgotten in the order of its last use', async () => {
    const { keys, tokens } = make({ verifiedMax: 2 });
    for (const user of ['a', 'b', 'a', 'c']) await infoOf(tokens, claims({ username: user }));
    expect(keys.verified).toBe(3);
    expect(tokens.size).toBe(2);
    await infoOf(tokens, claims({ username: 'a' }));
    expect(keys.verified).toBe(3);
    await infoOf(tokens, claims({ username: 'b' }));
    expect(keys.verified).toBe(4);
  });

  test.each([
    ['no user', { username: undefined }],
    ['a user that is no text', { username: 7 }],
    ['no revision', { revision: undefined }],
    ['a revision that is no number', { revision: '3' }],
    ['a revision below 0', { revision: -1 }],
    ['a revision above 2^53', { revision: 1e300 }],
    ['an end that is no number', { exp: '1700000300' }],
    ['an end that has come', { exp: 1_700_000_000 }],
    ['an end in the second that has come', { exp: 1_700_000_000.9 }],
    ['a beginning to come', { nbf: 1_700_000_001 }],
    ['a beginning that is no number', { nbf: 'now' }],
  ])('does not count with %s', async (_, over) => {
    expect(await infoOf(make().tokens, claims(over))).toBeUndefined();
  });

  test.each([
    ['no end', { exp: undefined }],
    ['the end 0, which is none', { exp: 0 }],
    ['a beginning now', { nbf: 1_700_000_000 }],
    ['a revision that is not whole', { revision: 3.9 }],
  ])('counts with %s', async (_, over) => {
    expect(await infoOf(make().tokens, claims(over))).toEqual({ user: 'alice', authRevision: 3 });
  });

  test.each([['null'], ['7'], ['[]']])('does not count if its claims are %s', async (text) => {
    const keys: JwtKeys = { verify: async () => JSON.parse(text), sign: undefined };
    expect(await infoOf(new JwtTokens({ keys, clock: new FakeClock() }), 'x')).toBeUndefined();
  });
});

describe('the caller', () => {
  const state = withAlice('r k');
  const tokens = new SimpleTokens({ clock: new FakeClock() });
  tokens.assign(tokenDigest('t.1'), 'alice');
  const simple: TokenProvider = { kind: 'simple', tokens };
  const alice = info(state, 'alice');

  test.each([
    ['a token', { token: 't.1' }, alice],
    ['the header authorization', { authorization: 't.1' }, alice],
    ['the header with Bearer', { authorization: 'Bearer t.1' }, alice],
    ['a token with Bearer', { token: 'Bearer t.1' }, alice],
    ['a token before the header', { token: 't.1', authorization: 'wrong' }, alice],
    ['a wrong token before a right header', { token: 'wrong', authorization: 't.1' }, undefined],
    ['an empty token', { token: '' }, undefined],
    ['a token before a certificate', { token: 't.1', commonName: 'bob' }, alice],
    ['a wrong token before a certificate', { token: 'wrong.9', commonName: 'alice' }, undefined],
    ['a certificate', { commonName: 'bob' }, { user: 'bob', authRevision: state.revision }],
    ['nothing', {}, nobody],
  ])('is known by %s', (_, came: { token?: string; authorization?: string; commonName?: string }, expected) => {
    const { token, authorization, commonName } = came;
    expect(identify(state, { token: presentedToken(token, authorization), commonName }, simple)).toEqual(expected);
  });

  test('has with a simple token the auth revision that counts now', () => {
    const later = after(state, { kind: 'role-add', name: 'new' });
    expect(identify(later, { token: 't.1' }, simple)).toEqual({ user: 'alice', authRevision: state.revision + 1 });
  });

  test('has with a JWT the auth revision of the log-in', async () => {
    const known = new JwtTokens({ keys: new FakeJwt(), clock: new FakeClock() });
    const provider: TokenProvider = { kind: 'jwt', tokens: known };
    const token = JSON.stringify({ username: 'alice', revision: 2 });
    expect(identify(state, { token }, provider), 'not verified yet').toBeUndefined();
    await infoOf(known, token);
    expect(identify(state, { token }, provider)).toEqual({ user: 'alice', authRevision: 2 });
    await infoOf(known, 'forged');
    expect(identify(state, { token: 'forged' }, provider)).toBeUndefined();
  });

  test('has no token that counts where there are none', () => {
    expect(identify(state, { token: 't.1' }, undefined)).toBeUndefined();
    expect(identify(state, {}, undefined)).toEqual(nobody);
  });

  test('is not looked for by tokens while authentication is off', () => {
    const off = after(state, disable);
    expect(identify(off, { token: 'garbage' }, simple)).toEqual(nobody);
    expect(identify(off, { token: 'garbage', commonName: 'bob' }, simple)).toEqual(info(off, 'bob'));
    expect(presentedToken(undefined)).toBeUndefined();
  });
});
