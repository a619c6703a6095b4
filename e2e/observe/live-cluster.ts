import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { EtcdClient } from '../../test/support/etcd-client.ts';
import { freePort } from '../../test/support/free-port.ts';
import { type ClusterPlace, freePlaces, leaderAmong, MemberProcess } from '../cluster/cluster-member.ts';
import { Load } from '../cluster/load.ts';
import { Lab } from '../tikv/lab.ts';

/** Above the threshold of EngramStorageStalled and some scrapes; appends that wait for longer are made again. */
const STORE_STILL_MS = 8000;
/** So few appends are answered in between that one in a hundred is a slow one. */
const STORE_RUNS_MS = 250;
const BETWEEN_MS = 1000;
/** Writers at a member that finds no leader, and how long each waits. */
const WRITERS = 20;
const WRITE_MAX_MS = 1000;

/** Without a bound of the data: alerts divide by it. */
const FLAGS = ['--metrics=extensive', '--quota-backend-bytes=-1'];

type End = () => Promise<void>;
const noEnd: End = async () => {};

/** Three members on PD and one store, with the causes of alerts that a lone member does not have. */
export class LiveCluster implements AsyncDisposable {
  readonly #lab: Lab;
  readonly #members: readonly MemberProcess[];
  /** Where the members show their metrics, host:port, also while they start. */
  readonly addresses: readonly string[];
  #load: Load | undefined;

  private constructor(lab: Lab, members: readonly MemberProcess[], addresses: readonly string[]) {
    this.#lab = lab;
    this.#members = members;
    this.addresses = addresses;
  }

  static async create(folder: string): Promise<LiveCluster> {
    const lab = await Lab.start(join(folder, 'lab'), { store: 'onenode', strict: false });
    const place: ClusterPlace = { pd: lab.pdAddresses, prefix: 'observe', members: await freePlaces(folder) };
    const addresses: string[] = [];
    const members: MemberProcess[] = [];
    for (const member of place.members) {
      const address = `127.0.0.1:${await freePort()}`;
      addresses.push(address);
      members.push(new MemberProcess(place, member, [`--listen-metrics-urls=http://${address}`, ...FLAGS]));
    }
    return new LiveCluster(lab, members, addresses);
  }

  /** All members, and clients at each. */
  async start(): Promise<void> {
    for (const member of this.#members) member.start();
    await Promise.all(this.#members.map((member) => member.ready()));
    const endpoints = this.#members.map(({ endpoint }) => endpoint);
    this.#load = new Load(endpoints, 1, { deadlineMs: 3000, betweenMs: 10 });
    await this.#load.until(20);
  }

  /** The first member stays, without a quorum, and clients write to it. */
  async loseTwo(): Promise<End> {
    await this.#load?.stop();
    const [first, ...others] = this.#members;
    for (const member of others) await member.kill();
    const client = new EtcdClient(first!.endpoint, { deadlineMs: WRITE_MAX_MS });
    const ends = Array.from({ length: WRITERS }, (_, writer) =>
      repeated(async () => {
        // None comes to a decision.
        await client.put({ key: Buffer.from(`lost/${writer}`) }).catch(() => undefined);
      }, 0),
    );
    return async () => {
      await Promise.all(ends.map((end) => end()));
      client.close();
    };
  }

  /** After `loseTwo`: the first member waits for the others. */
  async startAlone(): Promise<End> {
    const [first] = this.#members;
    await first!.kill();
    first!.start();
    return noEnd;
  }

  async moveLeader(): Promise<End> {
    return repeated(async () => {
      const leader = await leaderAmong(this.#members);
      const other = this.#members.find((member) => member !== leader)!;
      using target = new EtcdClient(other.endpoint);
      using client = new EtcdClient(leader.endpoint);
      const { header } = await target.status();
      // A move that comes too early is refused: the next one comes.
      await client.moveLeader(header!.memberId).catch(() => undefined);
    });
  }

  /** Appends have no answer for a while, again and again: what is slow is seen when it has its answer. */
  async stopStore(): Promise<End> {
    return repeated(async () => {
      this.#lab.signal('s1', 'SIGSTOP');
      await pause(STORE_STILL_MS);
      this.#lab.signal('s1', 'SIGCONT');
    }, STORE_RUNS_MS);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#load?.stop();
    for (const member of this.#members) await member.kill();
    await this.#lab[Symbol.asyncDispose]();
  }
}

/** Does `work` again and again, until the end. */
function repeated(work: () => Promise<void>, betweenMs = BETWEEN_MS): End {
  const stop = new AbortController();
  const working = (async () => {
    while (!stop.signal.aborted) {
      await work();
      await pause(betweenMs);
    }
  })();
  working.catch(() => stop.abort());
  return async () => {
    stop.abort();
    await working;
  };
}
