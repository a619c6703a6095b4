import { createServer, type IncomingMessage, type Server as NodeHttpServer, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { Accepted } from './listener.ts';
import type { HttpRequest, HttpResponse, ServeOptions } from './serve-options.ts';

/** A client must have sent its headers this soon, and its whole request that soon (slowloris). */
export const HEADERS_TIMEOUT_MS = 10_000;
export const REQUEST_TIMEOUT_MS = 60_000;
/** An idle connection is kept this long for the next request. */
const keepAliveTimeoutMs = 60_000;
const maxHeaderBytes = 64 * 1024;

/** HTTP/1.1 on connections that the listener hands over. The parser and its timeouts are node's. */
export class Http1Server {
  readonly #options: ServeOptions;
  readonly #server: NodeHttpServer;
  readonly #connections = new WeakMap<object, Accepted>();
  readonly #busy = new Set<ServerResponse>();
  #draining = false;

  constructor(options: ServeOptions) {
    this.#options = options;
    this.#server = createServer(
      {
        headersTimeout: HEADERS_TIMEOUT_MS,
        requestTimeout: REQUEST_TIMEOUT_MS,
        keepAliveTimeout: keepAliveTimeoutMs,
        connectionsCheckingInterval: 1_000,
        maxHeaderSize: maxHeaderBytes,
      },
      (request, response) => void this.#serve(request, response),
    );
    // It never listens itself, but its check of the timeouts starts with this event only.
    this.#server.emit('listening');
  }

  accept(connection: Accepted): void {
    this.#connections.set(connection.socket, connection);
    this.#server.emit('connection', connection.socket);
    connection.socket.resume();
  }

  /** Idle connections end now, busy ones after their answer. */
  drain(): void {
    this.#draining = true;
    for (const response of this.#busy) response.shouldKeepAlive = false;
    this.#server.closeIdleConnections();
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController();
    this.#busy.add(response);
    if (this.#draining) response.shouldKeepAlive = false;
    response.once('close', () => {
      this.#busy.delete(response);
      if (!response.writableFinished) gone.abort();
    });
    try {
      const body = await readBody(request, 2 * this.#options.maxRequestBytes);
      const answer =
        body === undefined
          ? { status: 413, headers: { connection: 'close' }, body: 'request body too large\n' }
          : await this.#options.http(this.#requestOf(request, body, gone.signal));
      await write(response, answer, gone.signal);
    } catch (error) {
      if (gone.signal.aborted) return;
      this.#options.logger.error({ error, path: request.url }, 'HTTP handler failed');
      if (response.headersSent) response.destroy();
      else response.writeHead(500, { 'content-type': 'text/plain; charset=utf-8' }).end('internal server error\n');
    }
  }

  #requestOf(request: IncomingMessage, body: Uint8Array, signal: AbortSignal): HttpRequest {
    const connection = this.#connections.get(request.socket);
    const { path, query } = splitTarget(request.url ?? '/');
    const headers: Record<string, string | undefined> = {};
    for (const [name, value] of Object.entries(request.headers)) {
      headers[name] = Array.isArray(value) ? value.join(', ') : value;
    }
    return {
      method: request.method ?? 'GET',
      path,
      query,
      headers,
      body,
      peer: connection?.peer ?? '',
      secure: connection?.secure ?? false,
      commonName: connection?.commonName,
      signal,
    };
  }
}

export function splitTarget(target: string): { readonly path: string; readonly query: URLSearchParams } {
  const mark = target.indexOf('?');
  if (mark < 0) return { path: target, query: new URLSearchParams() };
  return { path: target.slice(0, mark), query: new URLSearchParams(target.slice(mark + 1)) };
}

/** Undefined when there is more than `max`. Rejects when the client goes away. */
async function readBody(request: IncomingMessage, max: number): Promise<Uint8Array | undefined> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > max) return undefined;
    pieces.push(piece);
  }
  return Buffer.concat(pieces, bytes);
}

async function write(response: ServerResponse, answer: HttpResponse, signal: AbortSignal): Promise<void> {
  response.writeHead(answer.status, { ...answer.headers });
  if (typeof answer.body === 'string' || answer.body instanceof Uint8Array) {
    response.end(answer.body);
    return;
  }
  response.flushHeaders();
  for await (const piece of answer.body) {
    if (signal.aborted) return;
    if (!response.write(piece)) await once(response, 'drain', { signal });
  }
  response.end();
}
