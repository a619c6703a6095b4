import type { ClientDuplexStream } from '@grpc/grpc-js';
import { status } from '@grpc/grpc-js';
import type { Judge } from './judge.ts';
import { type DecodedMessage, encode, type Fields, show } from './messages.ts';
import { metadataOf, same, STORES, toBuffer } from './stores.ts';

const WAIT_MAX_MS = 15_000;

/** One store's end of a stream. */
interface End {
  readonly stream: ClientDuplexStream<Uint8Array, Buffer>;
  readonly messages: DecodedMessage[];
  ended: { code: string; details: string } | undefined;
  wake: () => void;
}

/** The same bidirectional call to both stores. Records received messages in order. */
export class StreamPair {
  readonly #judge: Judge;
  readonly #request: string;
  readonly #ends: readonly End[];
  /** The messages sent, for the report of a difference. */
  readonly sent: string[] = [];

  /** `metadata`: of each store, in their order. */
  constructor(
    judge: Judge,
    path: string,
    request: string,
    response: string,
    metadata: readonly Readonly<Record<string, string>>[] = [],
  ) {
    this.#judge = judge;
    this.#request = request;
    this.#ends = STORES.map((_name, store) => {
      const stream = judge.stores
        .client(store)
        .makeBidiStreamRequest(path, toBuffer, same, metadataOf(metadata[store] ?? {}));
      const end: End = { stream, messages: [], ended: undefined, wake: () => {} };
      stream.on('data', (bytes: Buffer) => {
        end.messages.push(judge.decode(store, response, bytes));
        end.wake();
      });
      stream.on('error', () => {});
      stream.on('status', ({ code, details }) => {
        end.ended = { code: status[code] ?? String(code), details: details.replaceAll('\u00a0', ' ') };
        end.wake();
      });
      return end;
    });
  }

  send(request: Fields): void {
    this.sent.push(show(request));
    for (const [store, { stream }] of this.#ends.entries()) stream.write(encode(this.#request, request, store));
  }

  sendBytes(bytes: Uint8Array): void {
    this.sent.push(Buffer.from(bytes).toString('hex'));
    for (const { stream } of this.#ends) stream.write(bytes);
  }

  halfClose(): void {
    for (const { stream } of this.#ends) stream.end();
  }

  messages(store: number): readonly DecodedMessage[] {
    return this.#ends[store]?.messages ?? [];
  }

  /** The status with which the stream ended. Undefined while it is open. */
  ended(store: number): { readonly code: string; readonly details: string } | undefined {
    return this.#ends[store]?.ended;
  }

  /** Waits until both ends satisfy the condition. Returns false, and counts a difference, if one does not in time. */
  async until(what: string, satisfied: (store: number) => boolean, askAgain?: () => void): Promise<boolean> {
    const endMs = Date.now() + WAIT_MAX_MS;
    for (const [store, end] of this.#ends.entries()) {
      while (!satisfied(store)) {
        if (Date.now() > endMs) {
          const missing = STORES.map((name, at) => `${name}: ${satisfied(at) ? 'has it' : 'never came'}`);
          const label = `waiting for ${what} after ${this.sent.slice(-6).join(' ')}`;
          this.#judge.fail(label, `${missing[0]}`, `${missing[1]} ${show(end.messages.slice(-3))}`);
          return false;
        }
        await woken(end, 150);
        askAgain?.();
      }
    }
    return true;
  }

  close(): void {
    for (const { stream } of this.#ends) stream.cancel();
  }
}

function woken(end: End, maxMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, maxMs);
    end.wake = () => {
      clearTimeout(timer);
      resolve();
    };
  });
}
