import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ClusterPlace, freePlaces, leaderAmong, MemberProcess } from '../../e2e/cluster/cluster-member.ts';
import { Lab } from '../../e2e/tikv/lab.ts';
import { EtcdClient, EtcdError } from '../../test/support/etcd-client.ts';
import { freePort } from '../../test/support/free-port.ts';
import { usageOf } from '../support/usage.ts';

export const PREFIX = 'image';
const VALUE_BYTES = 512;
const TXN_PUTS = 100;
const CLIENTS = 8;

export const keyOf = (at: number): Buffer => Buffer.from(`/registry/things/${String(at).padStart(9, '0')}`);

/** One PD, one store that supports delete-range, and members, two of which run from the start. */
export class ImageCluster implements AsyncDisposable {
  readonly lab: Lab;
  readonly members: readonly MemberProcess[];
  readonly #metricsPorts: readonly number[];
  /** The number of images published, by the members' logs. */
  rounds = 0;
  /** Transactions that were refused and sent again. */
  failed = 0;
  /** True while a member writes an image, by its log. */
  roundRuns = false;

  private constructor(lab: Lab, place: ClusterPlace, metricsPorts: readonly number[], flags: readonly string[]) {
    this.lab = lab;
    this.#metricsPorts = metricsPorts;
    this.members = place.members.map(
      (member, at) =>
        new MemberProcess(
          place,
          member,
          [
            '--quota-backend-bytes=17179869184',
            '--auto-compaction-retention=0',
            `--listen-metrics-urls=http://127.0.0.1:${metricsPorts[at]}`,
            ...flags,
            ...(member.name === 'c' ? ['--local-values=memory'] : []),
          ],
          (line) => this.#logged(line),
        ),
    );
  }

  static async start(folder: string, flags: readonly string[]): Promise<ImageCluster> {
    const lab = await Lab.start(join(folder, 'lab'), { store: 'onenode', strict: false });
    const members = await freePlaces(folder);
    const metrics = await Promise.all(members.map(() => freePort()));
    const cluster = new ImageCluster(lab, { pd: lab.pdAddresses, prefix: PREFIX, members }, metrics, flags);
    for (const member of cluster.members.slice(0, 2)) member.start();
    await Promise.all(cluster.members.slice(0, 2).map((member) => member.ready()));
    return cluster;
  }

  #logged(line: string): void {
    if (line.includes('writes an image')) this.roundRuns = true;
    if (line.includes('ended writing an image') || line.includes('could not keep the image')) this.roundRuns = false;
    if (line.includes('published an image')) this.rounds += 1;
  }

  async leader(): Promise<MemberProcess> {
    return await leaderAmong(this.members.filter(({ running }) => running));
  }

  /** The value of a member's metric. `name` includes the labels as they are printed. */
  async metric(member: MemberProcess, name: string): Promise<number | undefined> {
    const port = this.#metricsPorts[this.members.indexOf(member)];
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    const line = text.split('\n').find((each) => each.startsWith(`${name} `));
    return line === undefined ? undefined : Number(line.slice(name.length + 1));
  }

  /** CPU seconds of all members, and of the store. */
  cpu(): { readonly members: number; readonly store: number } {
    let members = 0;
    for (const member of this.members) if (member.running) members += usageOf(member.pid).cpuSeconds;
    return { members, store: usageOf(this.lab.pid('s1')).cpuSeconds };
  }

  /** Puts `count` keys in transactions of TXN_PUTS. `next` maps a count to a key number. */
  async write(count: number, next: (at: number) => number, stop?: () => boolean): Promise<number> {
    const { endpoint } = await this.leader();
    let [begun, written] = [0, 0];
    const one = async (): Promise<void> => {
      using client = new EtcdClient(endpoint, { deadlineMs: 60_000 });
      while (begun < count && stop?.() !== true) {
        const from = begun;
        begun += TXN_PUTS;
        const success = Array.from({ length: TXN_PUTS }, (_, at) => {
          const value = Buffer.from(`${from + at} `.padEnd(VALUE_BYTES, '.'));
          return { requestPut: { key: keyOf(next(from + at)), value } };
        });
        for (;;) {
          try {
            await client.txn({ success });
            break;
          } catch (error) {
            // On a busy machine a request may take longer than etcd's limit.
            if (!(error instanceof EtcdError)) throw error;
            this.failed += 1;
            await sleep(200);
          }
        }
        written += TXN_PUTS;
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, one));
    return written;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.members.map((member) => (member.running ? member.kill() : undefined)));
    await sleep(100);
    await this.lab[Symbol.asyncDispose]();
  }
}
