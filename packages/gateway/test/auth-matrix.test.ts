import { nodeItself } from '@engram/backend';
import type { AuthSettings } from '@engram/etcd-api';
import { prepareCallers, runLockMatrix, runMatrix, runObserveMatrix, runStreamMatrix } from '@engram/etcd-api/testing';
import type { JsonMessage } from '@engram/protobuf';
import { fromJson, toJson } from '@engram/protobuf/testing';
import { realRandom } from '@engram/sim';
import {
  type CallContext,
  etcdserverpb,
  etcdserverpbJson,
  type Method,
  type MethodTable,
  type RpcStatus,
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

/** More than a node without sockets needs for an answer. */
const TURNS = 200;

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

const isStatus = (json: unknown): json is RpcStatus => typeof json === 'object' && json !== null && 'code' in json;

/** What comes while nothing but the loop's own turns pass. */
async function withinTurns<Value>(work: Promise<Value>): Promise<Value | undefined> {
  let found: Value | undefined;
  let over = false;
  const taken = work.then((value) => {
    found = value;
    over = true;
  });
  taken.catch(() => {});
  for (let turn = 0; turn < TURNS && !over; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  return found;
}

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

test('so is every stream, and one that is refused sends nothing', async () => {
  const { node, clients } = await open();
  await using _ = node;
  const ask = async (caller: string, method: string, request: Uint8Array) => {
    const route = routes.find((each) => each.method === method)!;
    const encode = codecOf<object, Uint8Array>('encode', route.response);
    const body = JSON.stringify(toJson(route.request, codecOf<Uint8Array, object>('decode', route.request)(request)));
    const headers = headersOf(clients[caller]!.metadata['token']);
    const gone = new AbortController();
    const lines = new Lines(await node.ask(route.path, body, { headers, signal: gone.signal }));
    const sent: Uint8Array[] = [];
    let status: RpcStatus | undefined;
    // A snapshot sends more than is of interest here.
    while (sent.length < 3 && status === undefined) {
      const line = await withinTurns(lines.next());
      if (line === undefined) break;
      // A stream that has sent nothing has its error alone.
      const { result, error } = 'result' in line || 'error' in line ? line : { error: line, result: undefined };
      if (isStatus(error)) status = error;
      else sent.push(encode(fromJson(route.response, result)));
    }
    gone.abort();
    return { sent, status };
  };
  // etcd has no path for it.
  const without = ['KV/RangeStream'];
  const { wrong, calls } = await runStreamMatrix({ clients, kindOf, ask, without });
  expect(wrong).toEqual([]);
  expect(calls).toBeGreaterThan(80);
  expect(node.backend.watchHub.stats.watchers).toBe(0);
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
