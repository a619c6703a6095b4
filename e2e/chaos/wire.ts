import { connect, type Socket } from 'node:net';
import { createInterface, type Interface } from 'node:readline';

export interface Rule {
  readonly from: string;
  readonly to: string;
  /** Only what goes from or to this TCP port; everything if absent. */
  readonly port?: number;
  /** Shares of the packets, 0 to 1. */
  readonly lose?: number;
  readonly double?: number;
  readonly delayMs?: number;
  readonly jitterMs?: number;
}

/** The network between the hosts, as `wire/` carries it. */
export class Wire implements Disposable {
  readonly #socket: Socket;
  readonly #answers: AsyncIterator<string>;
  readonly #lines: Interface;

  constructor(control: string) {
    this.#socket = connect(control);
    this.#lines = createInterface({ input: this.#socket });
    this.#answers = this.#lines[Symbol.asyncIterator]();
  }

  /** These rules hold from now on, and no others. */
  async set(rules: readonly Rule[]): Promise<void> {
    this.#socket.write(`${JSON.stringify(rules)}\n`);
    const { value } = await this.#answers.next();
    if (value !== 'ok') throw new Error(`the network does not take the rules: ${String(value)}`);
  }

  [Symbol.dispose](): void {
    this.#lines.close();
    this.#socket.destroy();
  }
}

/** The same in both directions between each of these hosts and each of those. */
export function between(these: readonly string[], those: readonly string[], what: Omit<Rule, 'from' | 'to'>): Rule[] {
  return these.flatMap((one) =>
    those
      .filter((other) => other !== one)
      .flatMap((other) => [
        { from: one, to: other, ...what },
        { from: other, to: one, ...what },
      ]),
  );
}
