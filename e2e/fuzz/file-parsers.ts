import { createHmac } from 'node:crypto';
import { identify, AuthState, JwtTokens, presentedToken, simpleTokenIndex, tokenDigest } from '@engram/auth';
import { BboltError, BboltReader, bboltFile, smallBucket } from '@engram/bbolt';
import { bytesSource, unshared } from '@engram/bbolt/testing';
import { encodeKeyValue } from '@engram/coder';
import { leaseId, revision, utf8 } from '@engram/core';
import { EtcdDatabase, ImportError, importDatabase } from '@engram/importer';
import { ConfigError, jwtKeys } from '@engram/server/testing';
import { MemoryStorage } from '@engram/storage';
import { revokedSerials } from '@engram/transport/testing';
import { authpb, etcdserverpb, leasepb } from '@engram/wire';
import type { Parser } from './parsers.ts';

/* What an operator gives in files, and tokens: parsers that may wait. */

const never = new AbortController().signal;
const SECRET = Buffer.from('a secret of the fuzzer, which no client knows');
const NOW_MS = 1_700_000_000_000;

const keys = await jwtKeys({ kind: 'jwt', method: 'HS256', publicKey: undefined, privateKey: SECRET, ttlMs: 1000 });
const on = new AuthState({ ...AuthState.first, enabled: true });

/** A token with the claims that these bytes are, and with a right signature. */
function signed(claims: Buffer): string {
  const body = `${Buffer.from('{"alg":"HS256","typ":"JWT"}').toString('base64url')}.${claims.toString('base64url')}`;
  return `${body}.${createHmac('sha256', SECRET).update(body).digest('base64url')}`;
}

/** The first byte says whether the rest is a token, or the claims of one that is signed. Whose token it is must be said in whole. */
async function parseToken(bytes: Buffer): Promise<void> {
  const rest = bytes.subarray(1);
  const token = (bytes[0] ?? 0) % 2 === 0 ? rest.toString('latin1') : signed(rest);
  const tokens = new JwtTokens({ keys, clock: { wallMs: () => NOW_MS }, verifiedMax: 2 });
  await tokens.verifying(token);
  const info = tokens.known(token);
  const again = identify(on, { token: presentedToken(undefined, `Bearer ${token}`) }, { kind: 'jwt', tokens });
  if (info !== again && info?.user !== again?.user) throw new Error('a token of two users');
  if (info !== undefined && !(Number.isSafeInteger(info.authRevision) && info.authRevision >= 0))
    throw new Error(`auth revision ${info.authRevision}`);
  const index = simpleTokenIndex(token);
  if (index !== undefined && !(Number.isSafeInteger(index) && index >= 0)) throw new Error(`index ${index}`);
  if (tokenDigest(token).length !== 32) throw new Error('a digest of another length');
}

const refusedLists = ['no certificate revocation list', 'a revoked certificate without a serial number'];

function parseRevoked(bytes: Buffer): void {
  try {
    for (const serial of revokedSerials(bytes)) if (!/^[0-9a-f]*$/.test(serial)) throw new Error(`serial ${serial}`);
  } catch (error) {
    if (!(error instanceof Error && refusedLists.includes(error.message))) throw error;
  }
}

async function parsePem(bytes: Buffer): Promise<void> {
  for (const file of [
    { publicKey: bytes, privateKey: undefined },
    { publicKey: undefined, privateKey: bytes },
  ]) {
    try {
      await jwtKeys({ kind: 'jwt', method: 'ES256', ...file, ttlMs: 1000 });
    } catch (error) {
      if (!(error instanceof ConfigError) || /BEGIN/.test(error.message)) throw error;
    }
  }
}

async function parseBbolt(bytes: Buffer): Promise<void> {
  try {
    const reader = await BboltReader.open(bytesSource(bytes), never);
    for (const name of reader.names) for await (const _ of reader.entries(name, never)!);
  } catch (error) {
    if (!(error instanceof BboltError)) throw error;
  }
}

async function parseSnapshot(bytes: Buffer): Promise<void> {
  try {
    const options = { skipHashCheck: true, dropAuth: false, versionMax: '3.7', signal: never };
    const database = await EtcdDatabase.open(bytesSource(bytes), options);
    await importDatabase(database, new MemoryStorage(), { bumpRevision: 0, signal: never });
  } catch (error) {
    if (!(error instanceof BboltError || error instanceof ImportError)) throw error;
  }
}

export const fileParsers: readonly Parser[] = [
  { name: 'token', parse: parseToken },
  { name: 'crl', parse: parseRevoked },
  { name: 'pem', parse: parsePem },
  { name: 'bbolt', parse: parseBbolt },
  { name: 'snapshot', parse: parseSnapshot },
];

/** Valid inputs. Those of `crl` and `pem` are in corpus/. */
export async function seedsOfFiles(): Promise<ReadonlyMap<string, readonly Buffer[]>> {
  const claims = [
    { username: 'alice', revision: 3, exp: NOW_MS / 1000 + 60 },
    { username: 'alice', revision: 1e3, exp: 0, nbf: 1.5 },
  ].map((one) => Buffer.from(JSON.stringify(one)));
  const database = await etcdFile();
  return new Map([
    [
      'token',
      [
        ...claims.map((one) => Buffer.concat([Buffer.of(1), one])),
        ...claims.map((one) => Buffer.concat([Buffer.of(0), Buffer.from(signed(one))])),
        Buffer.concat([Buffer.of(0), Buffer.from('abcdefghijklmnop.123')]),
      ],
    ],
    ['bbolt', [database]],
    ['snapshot', [database]],
  ]);
}

/** A database with a little of everything. */
async function etcdFile(): Promise<Buffer> {
  const at = (main: number): Buffer => {
    const key = Buffer.alloc(17);
    key.writeBigUInt64BE(BigInt(main), 0);
    key.write('_', 8);
    return key;
  };
  const kv = encodeKeyValue({
    key: utf8('k'),
    value: utf8('v'),
    createRevision: revision(2),
    modRevision: revision(2),
    version: 1,
    lease: leaseId(7n),
  });
  const lease = Buffer.alloc(8);
  lease.writeBigInt64BE(7n);
  const perm = { permType: 2, key: utf8('a'), rangeEnd: utf8('b') };
  const buckets: Readonly<Record<string, readonly (readonly [Uint8Array, Uint8Array])[]>> = {
    alarm: [[etcdserverpb.encodeAlarmMember({ memberID: 1n, alarm: 1 }), new Uint8Array(0)]],
    auth: [
      [utf8('authEnabled'), Buffer.of(1)],
      [utf8('authRevision'), Buffer.from('0000000000000007', 'hex')],
    ],
    authRoles: [[utf8('r'), authpb.encodeRole({ name: utf8('r'), keyPermission: [perm] })]],
    authUsers: [[utf8('root'), authpb.encodeUser({ name: utf8('root'), password: utf8('hash'), roles: ['root'] })]],
    key: [[at(2), kv]],
    lease: [[lease, leasepb.encodeLease({ ID: 7n, TTL: 60 })]],
    members: [],
    meta: [],
  };
  const contents = Object.entries(buckets).map(([name, entries]) => smallBucket(utf8(name), entries));
  const parts: Uint8Array[] = [];
  for await (const part of (await bboltFile(contents, unshared, never)).chunks) parts.push(part);
  return Buffer.concat(parts);
}
