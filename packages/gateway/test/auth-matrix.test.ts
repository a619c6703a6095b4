import { nodeItself } from '@engram/backend';
import type { AuthSettings } from '@engram/etcd-api';
import { prepareCallers, runLockMatrix, runMatrix, runObserveMatrix } from '@engram/etcd-api/testing';
import type { JsonMessage } from '@engram/protobuf';
import { fromJson, toJson } from '@engram/protobuf/testing';
import { realRandom } from '@engram/sim';
import {
  type CallContext,
  etcdserverpb,
  etcdserverpbJson,
  type Method,
  type MethodTable,
  StatusError,
  v3electionpb,
  v3electionpbJson,
  v3lockpb,
  v3lockpbJson,
} from '@engram/wire';
import { expect, test } from 'vitest';
import { routes } from '../src/routes.ts';
import { Lines, NodeBehind } from './support/node-behind.ts';

/* The matrix of authorization through the gateway. */

const hasher = {
  hash: async (password: string) => Buffer.from(password),
  matches: async (hash: Uint8Array, password: string) => Buffer.from(hash).toString() === password,
};

const packages = [
  [etcdserverpbJson, etcdserverpb],
  [v3lockpbJson, v3lockpb],
  [v3electionpbJson, v3electionpb],
] as const;

/** `decode` or `encode` of a message. */
function codecOf<Argument, Result>(what: 'decode' | 'encode', message: JsonMessage): (argument: Argument) => Result {
  for (const [tables, codecs] of packages) {
    const name = Object.entries(tables).find(([, table]) => table === message)?.[0];
    const wanted = `${what}${name?.replace(/Json$/, '')}`;
    const codec = Object.entries(codecs).find(([other]) => other === wanted)?.[1];
    if (codec !== undefined) return codec as unknown as (argument: Argument) => Result;
  }
  throw new Error('a message of no package');
}

const headersOf = (token: string | undefined) => (token === undefined ? {} : { authorization: `Bearer ${token}` });

/** etcd's unary methods, asked by HTTP, with the token in a header. */
function overHttp(node: NodeBehind): MethodTable {
  const methods = new Map<string, Method>();
  for (const { path, method, request, response } of routes) {
    if (methods.has(method)) continue;
    const decode = codecOf<Uint8Array, object>('decode', request);
    const encode = codecOf<object, Uint8Array>('encode', response);
    const handle = async (bytes: Uint8Array, call: CallContext): Promise<Uint8Array> => {
      const headers = headersOf(call.metadata('token'));
      const { json } = await node.json(path, toJson(request, decode(bytes)), { headers });
      if (typeof json['code'] === 'number') throw new StatusError(json['code'], String(json['message']));
      return encode(fromJson(response, json));
    };
    methods.set(method, { kind: 'unary', handle });
  }
  return methods;
}

const run = <Value>(work: Promise<Value>): Promise<Value> => work;
// The certificate of such a call is the gateway's own.
const kindOf = (name: string): string => (name === 'a user with a certificate' ? 'no token' : name);

async function open() {
  const settings: AuthSettings = { hasher, random: realRandom, tokens: { kind: 'simple' }, clientCertAuth: true };
  const node = await NodeBehind.start({}, settings);
  const methods = overHttp(node);
  const { backend } = node;
  const endTokens = async (): Promise<void> => {
    await backend.changeAuth({ kind: 'disable' }, nodeItself);
    await backend.changeAuth({ kind: 'enable' }, nodeItself);
  };
  const clients = (await prepareCallers({ methods, run, endTokens })).at(methods);
  const state = async (): Promise<string> =>
    `${backend.revision} ${backend.auth.state.revision} ${backend.status().logPosition} ${backend.alarms().length}`;
  return { node, clients, state };
}

test('every call, by every kind of caller, is refused or permitted through the gateway as without it', async () => {
  const { node, clients, state } = await open();
  await using _ = node;
  const { wrong, calls } = await runMatrix({ clients, run, state, kindOf });
  expect(wrong).toEqual([]);
  expect(calls).toBeGreaterThan(1_000);
});

test('so is every call of Lock and Election, and Observe shows nothing to whom it may not', async () => {
  const { node, clients, state } = await open();
  await using _ = node;
  const { wrong, calls } = await runLockMatrix({ clients, run, state, kindOf });
  expect(wrong).toEqual([]);
  expect(calls).toBeGreaterThan(150);
  const observe = async (caller: string, request: Uint8Array) => {
    const headers = headersOf(clients[caller]!.metadata['token']);
    const { name } = v3electionpb.decodeLeaderRequest(request);
    const body = JSON.stringify({ name: Buffer.from(name).toString('base64') });
    const lines = new Lines(await node.ask('/v3/election/observe', body, { headers }));
    // A call that shows who leads goes on; one that does not has ended.
    const line = await lines.next();
    await lines.leave();
    return line === undefined ? { sent: 0, status: 'ok' } : { sent: 1, status: 'error' in line ? 'error' : 'nothing' };
  };
  const observed = await runObserveMatrix({ clients, run, kindOf, observe });
  expect(observed.wrong).toEqual([]);
  expect(observed.calls).toBeGreaterThan(20);
});
