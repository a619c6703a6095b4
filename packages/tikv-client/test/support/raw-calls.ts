import { type Channel, GrpcTransport, type MessageStream, type TransportError } from '@engram/tikv-client/testing';
import { expect } from 'vitest';
import type { RawConnection, RawServer } from './raw-server.ts';

export const streamMethod = '/tikvpb.Tikv/BatchCommands';
export const body = (text: string): Buffer => Buffer.from(text);

/** A channel to a server of raw frames, with its first connection. */
export async function connected(
  server: RawServer,
  settings: readonly (readonly [number, number])[] = [],
): Promise<{ channel: Channel; peer: RawConnection }> {
  const channel = new GrpcTransport(undefined).connect(server.address, false);
  // A channel connects at its first use.
  const first = channel.unary('/first', body('first'), { timeoutMs: 5_000 });
  const peer = await server.connection();
  peer.begin(settings);
  await peer.request(1);
  peer.write(peer.answer(1, 'first'));
  await first;
  return { channel, peer };
}

export const ask = (channel: Channel, text = 'question', timeoutMs = 5_000): Promise<string> =>
  channel.unary('/ask', body(text), { timeoutMs }).then((bytes) => Buffer.from(bytes).toString());

/** A stream with what came of it. */
export class Listener {
  readonly messages: string[] = [];
  error: TransportError | undefined;
  readonly stream: MessageStream;
  #wake: () => void = () => {};

  constructor(channel: Channel) {
    this.stream = channel.stream(streamMethod, {
      message: (bytes) => {
        this.messages.push(Buffer.from(bytes).toString());
        this.#wake();
      },
      end: (error) => {
        expect(this.error, 'a stream ends once').toBeUndefined();
        this.error = error;
        this.#wake();
      },
    });
  }

  async until(done: () => boolean): Promise<void> {
    while (!done()) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  async ended(): Promise<TransportError> {
    await this.until(() => this.error !== undefined);
    return this.error!;
  }
}
