import { EngramError, type ErrorCode, errorTable } from '@engram/core';
import type { CallHead, CallUser, Message, RpcStatus, StreamCall } from '@engram/wire';
import type { Credential } from './credentials.ts';

/** A call of a client, without a transport. What a stream's handler sends goes to `onSend`. */
export class SimCall implements StreamCall {
  readonly peer = 'a client';
  readonly client = this.peer;
  readonly method: string;
  readonly commonName: string | undefined;
  readonly signal: AbortSignal;
  readonly head: CallHead = { admitted: undefined };
  readonly crowded = false;
  user: CallUser | undefined;
  onSend: (message: Message) => void = () => undefined;
  onEnd: (error: unknown) => void = () => undefined;
  /** Asked before something is sent that can wait. */
  isFull: () => boolean = () => false;
  readonly #metadata: Credential['metadata'];

  constructor(method: string, { metadata, commonName }: Credential, signal: AbortSignal) {
    this.method = method;
    this.commonName = commonName;
    this.signal = signal;
    this.#metadata = metadata;
  }

  metadata(name: string): string | undefined {
    return this.#metadata[name];
  }

  /** A full stream has a little more than the services let it have. */
  get queuedBytes(): number {
    return this.isFull() ? 1.5 * QUEUE_BYTES_MAX : 0;
  }

  send(message: Message): void {
    this.onSend(message);
  }

  end(status?: RpcStatus): void {
    this.onEnd(status === undefined ? undefined : errorOf(status));
  }
}

export const QUEUE_BYTES_MAX = 1000;

/** The error that a status tells of. */
function errorOf({ message }: RpcStatus): Error {
  const code = (Object.keys(errorTable) as ErrorCode[]).find((one) => errorTable[one].message === message);
  return code === undefined ? new Error(message) : new EngramError(code);
}
