import type { Share } from '@engram/core';

/** A request of HTTP, as transport has it. */
export interface GatewayRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The whole body. It does not change. */
  readonly body: Uint8Array;
  readonly peer: string;
  /** Names the connection to the loop, as a caller. */
  readonly client: object;
  /** Aborted when the client is gone. */
  readonly signal: AbortSignal;
  /** The account of what the gateway holds of the answer. Ends with the request. */
  readonly answerBytes: Share;
}

export interface GatewayAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The next piece is asked for when the client has taken the one before. `return` is called if it will not be. */
  readonly body: Uint8Array | AsyncIterable<Uint8Array>;
}
