import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ClientBudgets, Share } from '@engram/core';
import { type WebSocket, WebSocketServer } from 'ws';
import type { HttpRequest, HttpResponse, WebSocketSession, WebSockets } from '../serve-options.ts';
import { PIECE_BYTES } from './paced-socket.ts';
import type { PlainHttp } from './plain-http.ts';

// Not imported: see http1.ts.
const { STATUS_CODES } = process.getBuiltinModule('node:http');

/** RFC 6455, 7.4.1: try again later. */
const TRY_LATER = 1013;
/** An unexpected condition: what is missing of the answer cannot be had. */
const BROKEN = 1011;

/** Of a ping or a pong of a client: two bytes, and a mask (RFC 6455, 5.2). */
const CONTROL_HEAD_BYTES = 6;
/**
 * While no more is unfinished than the piece in which a message has ended, and a part of a control frame, no message of many fragments is
 * under way. What comes between fragments counts: a fragment keeps the piece that it came in.
 */
const BETWEEN_MESSAGES_BYTES = 2 * PIECE_BYTES;

/** Serves the sockets of requests that ask for one. Frames, masks and their rules are those of `ws`. */
export class WebSocketUpgrades {
  readonly #sockets: WebSockets;
  readonly #plain: PlainHttp;
  readonly #budgets: ClientBudgets;
  readonly #server: WebSocketServer;

  constructor(sockets: WebSockets, plain: PlainHttp) {
    this.#sockets = sockets;
    this.#plain = plain;
    this.#budgets = plain.budgets;
    this.#server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      // As for bodies: JSON carries bytes as base64.
      maxPayload: 2 * plain.maxRequestBytes,
    });
  }

  /** `requestOf` makes the request as handlers know it, with a signal that aborts when the socket has closed. */
  upgrade(
    incoming: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    requestOf: (signal: AbortSignal, answerBytes: Share) => HttpRequest,
  ): void {
    const gone = new AbortController();
    const held = this.#budgets.answerBytes.share();
    const shares = [held, this.#budgets.answerBytes.share(), this.#budgets.requestBytes.share()] as const;
    socket.once('close', () => {
      gone.abort();
      for (const share of shares) share.end();
    });
    const session = this.#sockets.open(requestOf(gone.signal, held));
    if ('status' in session) {
      refuse(socket, session);
      return;
    }
    // The only one that is answered. `ws` would choose the first of the client's.
    incoming.headers['sec-websocket-protocol'] = session.protocol;
    if (session.protocol === undefined) delete incoming.headers['sec-websocket-protocol'];
    this.#server.handleUpgrade(incoming, socket, head, (webSocket) => {
      webSocket.on('error', () => {}); // 'close' follows
      this.#listen(webSocket, socket, session, shares[2]);
      void this.#speak(webSocket, session, shares[1]);
    });
  }

  /** Messages are handed on one after another. Nothing more is read while one is under way. */
  #listen(webSocket: WebSocket, socket: Duplex, session: WebSocketSession, share: Share): void {
    let waiting = 0;
    let tail = Promise.resolve();
    let unfinished = 0;
    // Frames are held until their message is complete. Those that are part of none are gone at once.
    socket.on('data', (piece: Buffer) => {
      unfinished += piece.length;
      share.hold(Math.max(0, unfinished));
      if (share.mayGrow) return;
      share.refused();
      webSocket.close(TRY_LATER, 'too many bytes of requests are under way');
    });
    const control = (data: Buffer): void => {
      if (unfinished <= BETWEEN_MESSAGES_BYTES) unfinished -= CONTROL_HEAD_BYTES + data.length;
    };
    webSocket.on('ping', control);
    webSocket.on('pong', control);
    webSocket.on('message', (data: Buffer) => {
      unfinished = 0;
      waiting += 1;
      webSocket.pause();
      tail = tail
        .then(() => session.message(data))
        .catch((error: unknown) => this.#broken(webSocket, error))
        .then(() => {
          waiting -= 1;
          if (waiting > 0) return;
          share.hold(Math.max(0, unfinished));
          // Also of one that closes: its client has the last word.
          webSocket.resume();
        });
    });
  }

  async #speak(webSocket: WebSocket, { pieces }: WebSocketSession, share: Share): Promise<void> {
    try {
      for await (const { bytes, last } of pieces) {
        if (webSocket.readyState !== webSocket.OPEN) return;
        share.hold(bytes.length);
        await this.#plain.patiently(sent(webSocket, bytes, last), () => webSocket.terminate());
      }
      webSocket.close(1000);
    } catch (error) {
      this.#broken(webSocket, error);
    }
  }

  #broken(webSocket: WebSocket, error: unknown): void {
    if (webSocket.readyState !== webSocket.OPEN) return;
    this.#plain.logger.error({ error }, 'the session of a WebSocket failed');
    webSocket.close(BROKEN);
  }
}

/** Resolves when the kernel has taken the bytes, or when the socket has closed. */
function sent(webSocket: WebSocket, bytes: Uint8Array, fin: boolean): Promise<void> {
  return new Promise((resolve) => webSocket.send(bytes, { binary: false, fin }, () => resolve()));
}

function refuse(socket: Duplex, { status, headers, body }: HttpResponse): void {
  const text = typeof body === 'string' ? body : '';
  const lines = Object.entries({ ...headers, connection: 'close', 'content-length': String(Buffer.byteLength(text)) });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${head}\r\n${text}`);
}
