import { connect, type Socket } from 'node:net';
import { createInterface, type Interface } from 'node:readline';

export interface Rule {
  readonly from: string;
  readonly to: string;
  /** Only packets from or to this TCP port. All packets if absent. */
  readonly port?: number;
  /** The fractions of packets that are lost and doubled, 0 to 1. */
  readonly lose?: number;
  readonly double?: number;
  readonly delayMs?: number;
  readonly jitterMs?: number;
}

/** The network between the hosts, which `wire/` carries. */
export class Wire implements Disposable {
  readonly #socket: Socket;
  readonly #answers: AsyncIterator<string>;
  readonly #lines: Interface;

  constructor(control: string) {
    this.#socket = connect(control);
    this.#lines = createInterface({ input: this.#socket });
    this.#answers = this.#lines[Symbol.asyncIterator]();
  }

  /** Replaces all rules with these. */
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

/** The same rule in both directions between each host of `these` and each host of `those`. */
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
