import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import type { MemberPlace } from '../cluster/cluster-member.ts';
import type { LabPlace } from '../tikv/lab.ts';

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

export const STORES_HOST = 'stores';
export const CLIENTS_HOST = 'judge';

/** The network namespace of a host, as a path. */
function netnsOf(host: string): string {
  const path = process.env[`NETNS_${host}`];
  if (path === undefined) throw new Error(`there is no host ${host}: see wire.sh`);
  return path;
}

export const storesPlace = (): LabPlace => ({ netns: netnsOf(STORES_HOST), address: '10.77.0.10' });

/** Three members of one cluster, each on a host of its own that has its name, with a folder below `folder`. */
export const memberPlaces = (folder: string): readonly MemberPlace[] =>
  ['a', 'b', 'c'].map((name, at) => ({
    name,
    host: `10.77.0.${at + 1}`,
    netns: netnsOf(name),
    clientPort: 2379,
    peerPort: 2380,
    dataDir: join(folder, name),
  }));

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
