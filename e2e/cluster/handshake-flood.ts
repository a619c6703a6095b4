import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { clientHello } from '@engram/transport/testing';

/** So many connections to each port stand at a time. */
const AT_ONCE = 64;
/** For how long each stands, unless the server closes it before. */
const STAY_MS = 20;
const CONNECT_MAX_MS = 1000;

/** A stranger that begins one TLS handshake after another, and completes none, until it is disposed. */
export class HandshakeFlood implements Disposable {
  /** Client hellos that were sent. */
  begun = 0;
  readonly #stop = new AbortController();
  readonly #hello: Buffer;

  private constructor(hello: Buffer) {
    this.#hello = hello;
  }

  /** At these ports of 127.0.0.1, from this address of the loopback interface. */
  static async start(ports: readonly number[], from = '127.0.0.1'): Promise<HandshakeFlood> {
    const flood = new HandshakeFlood(await clientHello());
    for (const port of ports) for (let at = 0; at < AT_ONCE; at += 1) void flood.#go(port, from);
    return flood;
  }

  async #go(port: number, from: string): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const socket = connect({ port, host: '127.0.0.1', localAddress: from });
      socket.on('error', () => {});
      socket.resume();
      const closed = new Promise<false>((resolve) => socket.once('close', () => resolve(false)));
      const connected = new Promise<true>((resolve) => socket.once('connect', () => resolve(true)));
      if (await Promise.race([connected, closed, delay(CONNECT_MAX_MS, false)])) {
        socket.write(this.#hello);
        this.begun += 1;
        await Promise.race([closed, delay(STAY_MS)]);
      }
      socket.resetAndDestroy();
    }
  }

  [Symbol.dispose](): void {
    this.#stop.abort();
  }
}
