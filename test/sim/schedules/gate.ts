import type { Channel, MessageStream, StreamEvents, Transport, UnaryOptions } from '@engram/tikv-client/testing';

/** The requests of one player to the stores: each waits until it is let through. PD's are not held. */
export class Gate implements Transport {
  readonly #inner: Transport;
  readonly #held: (() => void)[] = [];
  /** While it is open, nothing waits. */
  isOpen = true;

  constructor(inner: Transport) {
    this.#inner = inner;
  }

  get holds(): boolean {
    return this.#held.length > 0;
  }

  /** Lets the oldest request through. */
  pass(): void {
    this.#held.shift()?.();
  }

  connect(address: string, secure: boolean): Channel {
    const inner = this.#inner.connect(address, secure);
    if (!address.startsWith('store')) return inner;
    return {
      unary: (method: string, request: Uint8Array, options: UnaryOptions) =>
        new Promise<Uint8Array>((resolve, reject) =>
          this.#hold(() => void inner.unary(method, request, options).then(resolve, reject)),
        ),
      stream: (method: string, events: StreamEvents, metadata): MessageStream => {
        const stream = inner.stream(method, events, metadata);
        return {
          get waitingBytes() {
            return stream.waitingBytes;
          },
          write: (bytes) => this.#hold(() => stream.write(bytes)),
          cancel: () => stream.cancel(),
        };
      },
      close: () => inner.close(),
    };
  }

  #hold(pass: () => void): void {
    if (this.isOpen) pass();
    else this.#held.push(pass);
  }
}
