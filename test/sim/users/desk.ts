import type { Caller, NodeStore, Store } from '@engram/backend';
import { assert, type Logger, type Random } from '@engram/core';
import type { AuthSettings, Cluster } from '@engram/etcd-api';
import {
  authMethods,
  authorizedMethods,
  CallAdmission,
  RpcCaller,
  ServiceParts,
  watchMethods,
} from '@engram/etcd-api/testing';
import type { Loop } from '@engram/loop';
import type { SimProcess } from '@engram/sim';
import { gatherMessage, type Method, type MethodTable } from '@engram/wire';
import type { UsersSetting } from '../plan/settings.ts';
import type { Credential } from './credentials.ts';
import { RpcWatchStream, type RpcWatchSink } from './rpc-watch-stream.ts';
import { QUEUE_BYTES_MAX, SimCall } from './sim-call.ts';
import { simJwtKeys } from './sim-jwt.ts';

export interface DeskOptions {
  readonly store: NodeStore;
  readonly cluster: Cluster;
  readonly process: SimProcess;
  readonly loop: Loop;
  readonly logger: Logger;
  readonly users: Exclude<UsersSetting, 'none'>;
}

/** Calls whose messages are left out: the store is asked as the services ask it. */
const PATHS = [
  'KV/Range',
  'KV/RangeStream',
  'KV/Txn',
  'KV/Compact',
  'Lease/LeaseGrant',
  'Lease/LeaseRevoke',
  'Lease/LeaseKeepAlive',
  'Lease/LeaseTimeToLive',
  'Lease/LeaseLeases',
  'Maintenance/Alarm',
  'Maintenance/HashKV',
  'Maintenance/Snapshot',
  'Maintenance/Defragment',
] as const;
export type DeskPath = (typeof PATHS)[number];

export type Work<Answer> = (store: Store, caller: Caller) => Answer | Promise<Answer>;

const NOTHING = new Uint8Array(0);
/** Longer than a run. */
const JWT_TTL_MS = 1e12;
const HASH_MS_MAX = 20;

/**
 * Where clients come to a node that has users: the identity of a call, the store that judges reads, the services of users and of
 * watches are those of production, and so is what each call needs. Only the messages of the other services are left out.
 */
export class Desk {
  /** Of the clock of all: since then the node hears of log-ins. */
  readonly sinceMs: number;
  readonly #parts: ServiceParts;
  readonly #methods: MethodTable;
  readonly #works = new WeakMap<object, Work<unknown>>();

  constructor({ store, cluster, process, loop, logger, users }: DeskOptions) {
    const { clock, random } = process;
    this.sinceMs = process.host.scheduler.nowMs;
    this.#parts = new ServiceParts({
      store,
      cluster,
      version: '3.7.0',
      clock,
      loop,
      logger,
      limits: { streamQueueBytesMax: QUEUE_BYTES_MAX },
      auth: settingsOf(users, random, process),
    });
    const admission = new CallAdmission(this.#parts);
    const asked: Method = {
      kind: 'unary',
      handle: async (_, call) => {
        await this.#works.get(call)!(this.#parts.store, new RpcCaller(call));
        return NOTHING;
      },
    };
    this.#methods = authorizedMethods(
      new Map<string, Method>([
        ...PATHS.map((path) => [pathOf(path), asked] as const),
        ...authMethods(this.#parts, admission),
        ...watchMethods(this.#parts, admission),
      ]),
      this.#parts.auth,
    );
  }

  async call<Answer>(path: DeskPath, credential: Credential, signal: AbortSignal, work: Work<Answer>): Promise<Answer> {
    const call = new SimCall(pathOf(path), credential, signal);
    let answer: { readonly of: Answer } | undefined;
    this.#works.set(call, async (store, caller) => {
      answer = { of: await work(store, caller) };
    });
    await this.#unary(call, NOTHING);
    assert(answer !== undefined, 'a call that was answered without its work');
    return answer.of;
  }

  /** A call of the service Auth. */
  async auth(method: string, request: Uint8Array, credential: Credential, signal: AbortSignal): Promise<Uint8Array> {
    return gatherMessage(await this.#unary(new SimCall(pathOf(`Auth/${method}`), credential, signal), request));
  }

  async #unary(call: SimCall, request: Uint8Array) {
    const method = this.#methods.get(call.method);
    assert(method?.kind === 'unary', `${call.method} is no unary method`);
    return await method.handle(request, call);
  }

  /** Resolves when it is known whether the credential counts. Undefined: it is. */
  ready(credential: Credential): Promise<unknown> | undefined {
    return this.#parts.auth.ready(new SimCall('', credential, new AbortController().signal));
  }

  openWatch(sink: RpcWatchSink, credential: Credential): RpcWatchStream {
    const path = pathOf('Watch/Watch');
    const method = this.#methods.get(path);
    assert(method?.kind === 'bidi', `${path} is no bidi method`);
    const abort = new AbortController();
    const call = new SimCall(path, credential, abort.signal);
    return new RpcWatchStream(sink, call, method, abort);
  }
}

const pathOf = (path: string): string => `/etcdserverpb.${path}`;

function settingsOf(users: DeskOptions['users'], random: Random, process: SimProcess): AuthSettings {
  return {
    hasher: {
      // Users and roles may change while a password is hashed.
      hash: async (password) => {
        await process.delay((random.uint32() % 1000) * (HASH_MS_MAX / 1000));
        return Buffer.from(hashText(password));
      },
      matches: async (hash, password) => {
        await process.delay((random.uint32() % 1000) * (HASH_MS_MAX / 1000));
        return Buffer.from(hash).toString() === hashText(password);
      },
    },
    random,
    tokens: users === 'simple' ? { kind: 'simple' } : { kind: 'jwt', keys: simJwtKeys, ttlMs: JWT_TTL_MS },
    clientCertAuth: true,
  };
}

/** What the hasher makes of a password. */
export const hashText = (password: string): string => `hash of ${password}`;
