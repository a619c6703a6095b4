import type { Timer } from '@engram/core';
import { pingFrame } from '@engram/http2';
import { KeepaliveTimer } from './keepalive-policy.ts';
import type { Sender } from './sender.ts';
import type { ConnectionServer } from './connection-server.ts';

const pingData = Buffer.alloc(8);

/** Pings the client of an idle connection and calls `giveUp` when the client does not answer. */
export class Pinger {
  readonly #context: ConnectionServer;
  readonly #sender: Sender;
  readonly #lastReadMs: () => number;
  readonly #giveUp: () => void;
  readonly #policy: KeepaliveTimer;
  #timer: Timer | undefined;

  constructor(context: ConnectionServer, sender: Sender, lastReadMs: () => number, giveUp: () => void) {
    this.#context = context;
    this.#sender = sender;
    this.#lastReadMs = lastReadMs;
    this.#giveUp = giveUp;
    this.#policy = new KeepaliveTimer(context.keepalive, context.clock.nowMs());
    if (context.keepalive.intervalMs > 0) this.#wait(context.keepalive.intervalMs);
  }

  stop(): void {
    this.#timer?.cancel();
  }

  #wait(delayMs: number): void {
    this.#timer = this.#context.clock.after(delayMs, () => this.#fire());
  }

  #fire(): void {
    const { act, afterMs } = this.#policy.onTimer(this.#context.clock.nowMs(), this.#lastReadMs());
    if (act === 'close') {
      this.#giveUp();
      return;
    }
    if (act === 'ping') this.#sender.control(pingFrame(pingData, false));
    this.#wait(afterMs);
  }
}
