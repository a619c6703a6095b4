import { openBackend } from '@engram/backend';
import { epoch, SharedBudget } from '@engram/core';
import { type AuthSettings, etcdServices, LoneMember } from '@engram/etcd-api';
import { Gateway, type GatewayAnswer, type GatewayOptions, type GatewayRequest } from '@engram/gateway';
import { Loop } from '@engram/loop';
import { quiet, realClock, realRandom } from '@engram/sim';
import { MemoryStorage } from '@engram/storage';
import { type Interceptor, intercepted } from '@engram/wire';

const identity = { clusterId: 0xc1n, memberId: 0x1dn };

export const member = {
  ...identity,
  id: identity.memberId,
  name: 'node-1',
  peerUrls: ['http://127.0.0.1:2380'],
  clientUrls: ['http://127.0.0.1:2379'],
};

/** A gateway before a whole node without sockets. */
export class NodeBehind implements AsyncDisposable {
  readonly gateway: Gateway;
  readonly loop: Loop;
  readonly backend: Awaited<ReturnType<typeof openBackend>>;
  readonly answerBytes = new SharedBudget({ max: 64 * 1024 * 1024, greed: 1, floor: 64 * 1024 });

  private constructor(gateway: Gateway, loop: Loop, backend: NodeBehind['backend']) {
    this.gateway = gateway;
    this.loop = loop;
    this.backend = backend;
  }

  static async start(
    options: Partial<GatewayOptions> = {},
    auth?: AuthSettings,
    interceptors: readonly Interceptor[] = [],
  ): Promise<NodeBehind> {
    const loop = options.loop ?? new Loop({ clock: realClock });
    const backend = await openBackend({
      storage: new MemoryStorage(),
      epoch: epoch(1),
      clock: realClock,
      loop,
      random: realRandom,
      logger: quiet,
      memberId: identity.memberId,
      onFatal: (error) => {
        throw error;
      },
      quotaBytes: 2 * 1024 ** 3,
    });
    const services = etcdServices({
      store: backend,
      cluster: new LoneMember({ clusterId: identity.clusterId, member, term: 4 }),
      version: '3.7.3',
      clock: realClock,
      loop,
      logger: quiet,
      auth,
    });
    const methods = intercepted(services, interceptors);
    const gateway = new Gateway({ methods, loop, clock: realClock, messageBytesMax: 2 * 1024 * 1024, ...options });
    return new NodeBehind(gateway, loop, backend);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.gateway.stop();
    await this.backend[Symbol.asyncDispose]();
  }

  request(path: string, body: string | Uint8Array, changes: Partial<GatewayRequest> = {}): GatewayRequest {
    return {
      method: 'POST',
      path,
      headers: {},
      body: typeof body === 'string' ? Buffer.from(body) : body,
      peer: '127.0.0.1:5',
      client: {},
      signal: new AbortController().signal,
      answerBytes: this.answerBytes.share(),
      ...changes,
    };
  }

  ask(path: string, body: string | Uint8Array, changes: Partial<GatewayRequest> = {}): Promise<GatewayAnswer> {
    return this.gateway.answer(this.request(path, body, changes));
  }

  /** The status and the JSON of an answer that is one value. */
  async json(
    path: string,
    body: string | Uint8Array | object,
    changes: Partial<GatewayRequest> = {},
  ): Promise<{ readonly status: number; readonly json: Record<string, unknown> }> {
    const text = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
    const answer = await this.ask(path, text, changes);
    return { status: answer.status, json: JSON.parse(await textOf(answer)) };
  }
}

/** The pieces of a body, in order. */
export async function* piecesOf({ body }: GatewayAnswer): AsyncGenerator<Uint8Array> {
  if (body instanceof Uint8Array) yield body;
  else yield* body;
}

export async function textOf(answer: GatewayAnswer): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of piecesOf(answer)) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

/** The lines of a stream, each as it comes. */
export class Lines {
  readonly #pieces: AsyncGenerator<Uint8Array>;
  #text = '';

  constructor(answer: GatewayAnswer) {
    this.#pieces = piecesOf(answer);
  }

  /** The next line; undefined behind the last. */
  async next(): Promise<Record<string, unknown> | undefined> {
    while (!this.#text.includes('\n')) {
      const piece = await this.#pieces.next();
      if (piece.done === true) return undefined;
      this.#text += Buffer.from(piece.value).toString();
    }
    const end = this.#text.indexOf('\n');
    const line = this.#text.slice(0, end);
    this.#text = this.#text.slice(end + 1);
    return JSON.parse(line);
  }

  /** The client takes no more. */
  async leave(): Promise<void> {
    await this.#pieces.return(undefined);
  }
}

export const base64 = (text: string): string => Buffer.from(text).toString('base64');
