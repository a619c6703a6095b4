import type { IncomingMessage, Server as NodeHttpServer, ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { assert, EMPTY_BYTES, type Share } from '@engram/core';
import { Ends } from '../ends.ts';
import type { Accepted } from '../listener.ts';
import { PacedSocket } from './paced-socket.ts';
import type { PlainHttp } from './plain-http.ts';
import { type HttpRequest, type HttpResponse, type ServeOptions, timeoutsOf } from '../serve-options.ts';
import type { WebSocketUpgrades } from './web-socket-upgrades.ts';

// An import of node:http reads all that it exports, and so loads node's client of WebSocket: 10 MiB.
const { createServer } = process.getBuiltinModule('node:http');

/** An idle connection is kept this long for the next request. */
const keepAliveTimeoutMs = 60_000;
const maxHeaderBytes = 64 * 1024;
/** A longer answer is handed over in pieces, each when the client has taken the one before. */
const PIECE_BYTES = 64 * 1024;

/** Requests that may wait for earlier answers on their connection. Few clients pipeline at all. */
const pipelinedMax = 8;

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** A connection and its pipelined requests. */
interface Line {
  readonly connection: Accepted;
  /** See `StreamHost`. */
  readonly client: object;
  readonly socket: PacedSocket;
  readonly waiting: Exchange[];
  serving: boolean;
}

/**
 * HTTP/1.1 on connections that the listener hands over. The parser and its timeouts are node's. A connection has one
 * request served at a time, and nothing more is read from it while another request waits. So a connection holds one
 * answer, even if it pipelines requests. Too many waiting requests end it.
 */
export class Http1Server {
  readonly #options: ServeOptions;
  readonly #plain: PlainHttp;
  readonly #ends: Ends;
  readonly #server: NodeHttpServer;
  readonly #lines = new WeakMap<Duplex, Line>();
  readonly #busy = new Set<ServerResponse>();
  /** Loaded with the first request for a WebSocket. */
  #upgrades: Promise<WebSocketUpgrades> | undefined;
  #draining = false;

  constructor(options: ServeOptions, plain: PlainHttp) {
    this.#options = options;
    this.#plain = plain;
    this.#ends = new Ends(plain.loop);
    const { headersMs, requestMs } = timeoutsOf(options);
    this.#server = createServer(
      {
        headersTimeout: headersMs,
        requestTimeout: requestMs,
        keepAliveTimeout: keepAliveTimeoutMs,
        connectionsCheckingInterval: Math.min(1_000, headersMs),
        maxHeaderSize: maxHeaderBytes,
        shouldUpgradeCallback: (request) => this.#asksForWebSocket(request),
      },
      (request, response) => this.#asked({ request, response }),
    );
    this.#server.on('upgrade', (request, socket, head) => void this.#upgrade(request, socket, head));
    this.#server.on('clientError', (error: NodeJS.ErrnoException & { readonly rawPacket?: Buffer }, socket) => {
      const status = refusalOf(error.code ?? '', error.rawPacket);
      if (error.code !== 'ERR_HTTP_REQUEST_TIMEOUT') this.#refuse(socket, status);
      else {
        // Node looks once a second, and tells of all late clients at once: thousands, if they began together. They wait in line for their
        // answer, and are not served meanwhile. Behind the answer input is read on, as of any client that is refused.
        socket.pause();
        this.#ends.later(() => {
          this.#refuse(socket, status);
          socket.resume();
        });
      }
    });
    // A client that has said all may still listen. By default node ends its connection before an answer that begins in a later turn.
    Object.assign(this.#server, { httpAllowHalfOpen: true });
    // This server never listens, but its check of the timeouts starts only with this event.
    this.#server.emit('listening');
  }

  accept(connection: Accepted): void {
    const socket = new PacedSocket(connection.socket, this.#options.clock, this.#ends);
    this.#lines.set(socket, { connection, client: {}, socket, waiting: [], serving: false });
    this.#server.emit('connection', socket);
  }

  /** Idle connections end now, busy connections after their answer. */
  drain(): void {
    this.#draining = true;
    for (const response of this.#busy) response.shouldKeepAlive = false;
    this.#server.closeIdleConnections();
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  /** Ends a connection, with this status line if there is one. */
  #refuse(socket: Duplex, status: string | undefined): void {
    const line = this.#lines.get(socket);
    if (status === undefined || line === undefined || !socket.writable) socket.destroy();
    else line.socket.endWith(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
  }

  #asked(exchange: Exchange): void {
    const { socket } = exchange.request;
    const line = this.#lines.get(socket);
    assert(line !== undefined, 'a request of a connection that was not accepted');
    if (!socket.writable) return; // it came while the last answer leaves
    if (line.waiting.length === pipelinedMax) {
      socket.destroy();
      return;
    }
    line.waiting.push(exchange);
    if (line.serving) socket.pause();
    else void this.#serveLine(line);
  }

  #asksForWebSocket({ method, url = '', headers }: IncomingMessage): boolean {
    const { webSockets } = this.#options;
    if (webSockets === undefined || method !== 'GET' || headers.upgrade?.toLowerCase() !== 'websocket') return false;
    return webSockets.at(splitTarget(url).path);
  }

  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const line = this.#lines.get(socket);
    const { webSockets } = this.#options;
    assert(line !== undefined && webSockets !== undefined, 'a socket of a connection that was not accepted');
    // Node has taken its own listener away.
    socket.on('error', () => socket.destroy());
    // Nothing may be answered behind the upgrade, and what came ahead of it would be.
    if (line.serving || this.#draining) {
      socket.destroy();
      return;
    }
    line.serving = true;
    this.#upgrades ??= import('./web-socket-upgrades.ts').then(
      ({ WebSocketUpgrades: Upgrades }) => new Upgrades(webSockets, this.#plain),
    );
    const upgrades = await this.#upgrades;
    await this.#plain.turn(line.client);
    if (socket.destroyed) return;
    upgrades.upgrade(request, socket, head, (signal, answerBytes) =>
      requestOf(request, line.connection, { body: EMPTY_BYTES, signal, client: line.client, answerBytes }),
    );
  }

  async #serveLine(line: Line): Promise<void> {
    const { socket } = line;
    line.serving = true;
    for (let next = line.waiting.shift(); next !== undefined; next = line.waiting.shift()) {
      // The body of the request may not have arrived yet.
      if (line.waiting.length === 0) socket.resume();
      await this.#serve(next, line);
      // Also behind an answer that ends the connection: its client may send again what has no answer (RFC 9112, 9.6).
      if (!socket.writable) line.waiting.length = 0;
    }
    line.serving = false;
  }

  /** Resolves when the answer has left, or cannot leave. */
  async #serve({ request, response }: Exchange, line: Line): Promise<void> {
    const gone = new AbortController();
    const { budgets } = this.#plain;
    const requestBytes = budgets.requestBytes.share();
    /** What the handler holds, and what this server does. */
    const [held, answerBytes] = [budgets.answerBytes.share(), budgets.answerBytes.share()];
    this.#busy.add(response);
    if (this.#draining) response.shouldKeepAlive = false;
    const closed = new Promise<void>((resolve) => {
      response.once('close', () => {
        this.#busy.delete(response);
        answerBytes.end();
        held.end();
        if (!response.writableFinished) gone.abort();
        resolve();
      });
    });
    try {
      const answer = await this.#answer(request, line, requestBytes, held, gone.signal);
      await this.#write(response, answer, answerBytes, gone.signal);
    } catch (error) {
      if (gone.signal.aborted) return;
      this.#options.logger.error({ error, path: request.url }, 'HTTP handler failed');
      if (response.headersSent) response.destroy();
      else response.writeHead(500, { 'content-type': 'text/plain; charset=utf-8' }).end('internal server error\n');
    } finally {
      requestBytes.end();
    }
    await this.#plain.patiently(closed, cutting(response));
    // Its head may have said that more is taken.
    if (this.#draining) line.socket.destroySoon();
  }

  async #write(
    response: ServerResponse,
    { status, headers, body }: HttpResponse,
    share: Share,
    signal: AbortSignal,
  ): Promise<void> {
    const take = async (piece: string | Uint8Array): Promise<void> => {
      if (!response.write(piece)) await this.#plain.patiently(once(response, 'drain', { signal }), cutting(response));
    };
    if (typeof body === 'string' || body instanceof Uint8Array) {
      const bytes = typeof body === 'string' ? Buffer.from(body) : body;
      response.writeHead(status, { ...headers, 'Content-Length': bytes.length });
      share.hold(bytes.length);
      let at = 0;
      for (; bytes.length - at > PIECE_BYTES; at += PIECE_BYTES) await take(bytes.subarray(at, at + PIECE_BYTES));
      response.end(bytes.subarray(at));
      return;
    }
    response.writeHead(status, { ...headers });
    response.flushHeaders();
    for await (const piece of body) {
      if (signal.aborted) return;
      share.hold(piece.length);
      await take(piece);
    }
    response.end();
  }

  async #answer(
    request: IncomingMessage,
    { connection, client }: Line,
    share: Share,
    answerBytes: Share,
    signal: AbortSignal,
  ): Promise<HttpResponse> {
    if (request.headersDistinct['host'] !== undefined && request.headersDistinct['host'].length > 1) return twoHosts;
    const body = await readBody(request, 2 * this.#options.maxRequestBytes, share);
    if (typeof body === 'string') return bodyRefusals[body];
    await this.#plain.turn(client);
    return await this.#plain.answer(requestOf(request, connection, { body, signal, client, answerBytes }), client);
  }
}

const cutting = (response: ServerResponse) => (): void => void response.destroy();

const bodyRefusals: Readonly<Record<'too-large' | 'no-room', HttpResponse>> = {
  'too-large': { status: 413, headers: { connection: 'close' }, body: 'request body too large\n' },
  'no-room': { status: 503, headers: { connection: 'close' }, body: 'too many bytes of requests are under way\n' },
};
/** Go's answer (net/http, server.go: readRequest). Refused because servers disagree on which of two Host headers counts. */
const twoHosts: HttpResponse = {
  status: 400,
  headers: { 'content-type': 'text/plain; charset=utf-8', connection: 'close' },
  body: '400 Bad Request: too many Host headers',
};

function requestOf(
  request: IncomingMessage,
  { peer, secure, commonName }: Accepted,
  parts: Pick<HttpRequest, 'body' | 'signal' | 'client' | 'answerBytes'>,
): HttpRequest {
  const [, authority, target] = /^https?:\/\/([^/?#]*)(.*)$/is.exec(request.url ?? '') ?? [];
  const { path, query } = splitTarget(target ?? request.url ?? '/');
  const headers: Record<string, string | undefined> = {};
  for (const [name, value] of Object.entries(request.headers)) {
    headers[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  // The absolute form, which a client of a proxy sends (RFC 9112, 3.2.2). The host in the target counts, as in Go.
  if (authority !== undefined && authority !== '') headers['host'] = authority.replace(/^.*@/, '');
  return { method: request.method ?? 'GET', path: path || '/', query, headers, peer, secure, commonName, ...parts };
}

/** A method is any token (RFC 9110, 5.6.2), also one that node's parser does not know: `get`, for one. */
const requestLine = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+ \S+ HTTP\/1\.[01]\r?\n/;

/**
 * The status line for bytes that are not a valid request. Undefined if they are not even HTTP/1: then the connection is
 * cut without an answer, as in etcd.
 */
function refusalOf(code: string, packet: Buffer | undefined): string | undefined {
  if (code === 'HPE_INVALID_METHOD' && requestLine.test(packet?.toString('latin1') ?? ''))
    return '405 Method Not Allowed';
  if (code === 'HPE_HEADER_OVERFLOW') return '431 Request Header Fields Too Large';
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return '408 Request Timeout';
  if (code === 'HPE_INVALID_METHOD' || code === 'HPE_INVALID_VERSION' || code === 'HPE_INVALID_CONSTANT')
    return undefined;
  return code.startsWith('HPE_') ? '400 Bad Request' : undefined;
}

export function splitTarget(target: string): { readonly path: string; readonly query: URLSearchParams } {
  const mark = target.indexOf('?');
  if (mark < 0) return { path: target, query: new URLSearchParams() };
  return { path: target.slice(0, mark), query: new URLSearchParams(target.slice(mark + 1)) };
}

/**
 * Returns the reason if the body is longer than `max`, announced or received, or than the share allows. Rejects when
 * the client disconnects.
 */
async function readBody(
  request: IncomingMessage,
  max: number,
  share: Share,
): Promise<Uint8Array | keyof typeof bodyRefusals> {
  if (Number(request.headers['content-length'] ?? 0) > max) return 'too-large';
  const pieces: Buffer[] = [];
  let bytes = 0;
  // `destroyOnReturn` is false because the answer goes over the same socket.
  for await (const piece of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > max) return 'too-large';
    share.hold(bytes);
    if (!share.mayGrow) {
      share.refused();
      return 'no-room';
    }
    pieces.push(piece);
  }
  return Buffer.concat(pieces, bytes);
}
