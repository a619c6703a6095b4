import { nodeItself } from '@engram/backend';
import type { AuthSettings } from '@engram/etcd-api';
import { prepareCallers, runMatrix } from '@engram/etcd-api/testing';
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
} from '@engram/wire';
import { expect, test } from 'vitest';
import { routes } from '../src/routes.ts';
import { NodeBehind } from './support/node-behind.ts';

/* The matrix of authorization through the gateway. */

const hasher = {
  hash: async (password: string) => Buffer.from(password),
  matches: async (hash: Uint8Array, password: string) => Buffer.from(hash).toString() === password,
};

/** `decode` or `encode` of a message. */
function codecOf<Argument, Result>(what: 'decode' | 'encode', message: JsonMessage): (argument: Argument) => Result {
  const [name] = Object.entries(etcdserverpbJson).find(([, table]) => table === message)!;
  const wanted = `${what}${name.replace(/Json$/, '')}`;
  const [, codec] = Object.entries(etcdserverpb).find(([other]) => other === wanted)!;
  return codec as unknown as (argument: Argument) => Result;
}

/** etcd's unary methods, asked by HTTP, with the token in a header. */
function overHttp(node: NodeBehind): MethodTable {
  const methods = new Map<string, Method>();
  for (const { path, method, request, response } of routes) {
    if (!method.startsWith('/etcdserverpb.') || methods.has(method)) continue;
    const decode = codecOf<Uint8Array, object>('decode', request);
    const encode = codecOf<object, Uint8Array>('encode', response);
    const handle = async (bytes: Uint8Array, call: CallContext): Promise<Uint8Array> => {
      const token = call.metadata('token');
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
      const { json } = await node.json(path, toJson(request, decode(bytes)), { headers });
      if (typeof json['code'] === 'number') throw new StatusError(json['code'], String(json['message']));
      return encode(fromJson(response, json));
    };
    methods.set(method, { kind: 'unary', handle });
  }
  return methods;
}

test('every call, by every kind of caller, is refused or permitted through the gateway as without it', async () => {
  const settings: AuthSettings = { hasher, random: realRandom, tokens: { kind: 'simple' }, clientCertAuth: true };
  await using node = await NodeBehind.start({}, settings);
  const methods = overHttp(node);
  const run = <Value>(work: Promise<Value>): Promise<Value> => work;
  const { backend } = node;
  const endTokens = async (): Promise<void> => {
    await backend.changeAuth({ kind: 'disable' }, nodeItself);
    await backend.changeAuth({ kind: 'enable' }, nodeItself);
  };
  const callers = await prepareCallers({ methods, run, endTokens });
  const state = async (): Promise<string> =>
    `${backend.revision} ${backend.auth.state.revision} ${backend.status().logPosition} ${backend.alarms().length}`;
  // The certificate of such a call is the gateway's own.
  const kindOf = (name: string): string => (name === 'a user with a certificate' ? 'no token' : name);
  const { wrong, calls } = await runMatrix({ clients: callers.at(methods), run, state, kindOf });
  expect(wrong).toEqual([]);
  expect(calls).toBeGreaterThan(1_000);
});
