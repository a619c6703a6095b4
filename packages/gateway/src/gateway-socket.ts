import type { GatewayAnswer, GatewayRequest } from './gateway-request.ts';

/** A part of a message of a WebSocket. `last`: the message ends with it. */
export interface SocketPiece {
  readonly bytes: Uint8Array;
  readonly last: boolean;
}

/** A WebSocket of a client: each of its messages is JSON, and so is each that it gets. */
export interface GatewaySocket {
  /** The subprotocol that is answered. Undefined: none. */
  readonly protocol: string | undefined;
  /** What the client gets. The next piece is asked for when it has taken the one before. The socket closes behind the last. */
  readonly pieces: AsyncIterable<SocketPiece>;
  /** Takes a message of the client. The next one comes when the promise has resolved. */
  message(bytes: Uint8Array): Promise<void>;
}

const BEARER = 'Bearer';

/**
 * The request that etcd's proxy makes of a socket's (wsproxy/websocket_proxy.go): POST, and the token that a browser can name only as a
 * subprotocol, `Sec-WebSocket-Protocol: Bearer, <token>`. A cookie with a token does not count, although it does in etcd: a
 * browser sends it along for any page.
 */
export function requestOfSocket(request: GatewayRequest): GatewayRequest {
  const [, token] = (request.headers['sec-websocket-protocol'] ?? '').split(`${BEARER},`);
  if (token === undefined) return { ...request, method: 'POST' };
  return { ...request, method: 'POST', headers: { ...request.headers, authorization: `${BEARER} ${token.trim()}` } };
}

/** A client that names the subprotocol of tokens gets it as an answer: browsers insist on one of theirs. */
export const protocolOfSocket = ({ headers }: GatewayRequest): string | undefined =>
  headers['sec-websocket-protocol']?.startsWith(BEARER) === true ? BEARER : undefined;

/** A message for each line. JSON as it is made here has no line break within it. */
export async function* piecesOfLines({ body }: Pick<GatewayAnswer, 'body'>): AsyncGenerator<SocketPiece> {
  let open = false;
  for await (const bytes of body instanceof Uint8Array ? [body] : body) {
    let start = 0;
    for (let end = bytes.indexOf(0x0a); end >= 0; end = bytes.indexOf(0x0a, start)) {
      yield { bytes: bytes.subarray(start, end), last: true };
      open = false;
      start = end + 1;
    }
    if (start === bytes.length) continue;
    yield { bytes: bytes.subarray(start), last: false };
    open = true;
  }
  if (open) yield { bytes: new Uint8Array(0), last: true };
}
