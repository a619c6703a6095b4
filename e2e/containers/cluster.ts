import { setTimeout as sleep } from 'node:timers/promises';
import { Pd } from '../tikv/pd.ts';
import { alias, type Container, type Engine } from './engine.ts';

const STORES = 3;
const CLIENT_PORT = 2379;
const PD_PORT = 2379;
const REGISTERED_MAX_MS = 60_000;
const DATA = '/var/lib/engram';
/** What e2e/tikv/lab/start-store gives a store. */
const STORE_ENVIRONMENT = { GOMEMLIMIT: '768MiB', GOGC: '60' };

/** PD and the stores, each in a container. */
export class ContainerLab {
  readonly pd: Container;
  readonly stores: readonly Container[];
  readonly view: Pd;

  private constructor(pd: Container, stores: readonly Container[], view: Pd) {
    this.pd = pd;
    this.stores = stores;
    this.view = view;
  }

  /** Resolves when every region has a copy on every store. */
  static async start(engine: Engine, image: string): Promise<ContainerLab> {
    const [client, peer] = [`http://${alias('storage', 'pd')}:${PD_PORT}`, `http://${alias('storage', 'pd')}:2380`];
    const pd = await engine.start({
      name: 'pd',
      image,
      command: [
        'pd-server',
        '--name=pd',
        `--data-dir=${DATA}/pd`,
        '--config=/etc/pd.toml',
        `--client-urls=http://0.0.0.0:${PD_PORT}`,
        `--advertise-client-urls=${client}`,
        '--peer-urls=http://0.0.0.0:2380',
        `--advertise-peer-urls=${peer}`,
        `--initial-cluster=pd=${peer}`,
      ],
      environment: { GOMEMLIMIT: '256MiB' },
      networks: ['storage'],
      published: { [PD_PORT]: 12_379 },
      memoryMib: 1024,
    });
    const view = new Pd(() => [pd.published(PD_PORT)]);
    const stores: Container[] = [];
    for (let at = 1; at <= STORES; at += 1) {
      stores.push(await ContainerLab.#store(engine, image, at));
      await registered(view, at);
      if (at === 1) await view.forgetKeyspaces();
    }
    await view.replicated(STORES);
    return new ContainerLab(pd, stores, view);
  }

  static #store(engine: Engine, image: string, at: number): Promise<Container> {
    const name = `store-${at}`;
    return engine.start({
      name,
      image,
      command: [
        'unistore-lab',
        `-pd=${alias('storage', 'pd')}:${PD_PORT}`,
        `-addr=${alias('storage', name)}:20160`,
        `-data-dir=${DATA}/store`,
      ],
      environment: STORE_ENVIRONMENT,
      networks: ['storage'],
      published: {},
      memoryMib: 2048,
      // The lab's store ends where the sender of a snapshot gives up. TiKV does not.
      restarted: true,
    });
  }

  /** PD's address for members. */
  get address(): string {
    return `${alias('storage', 'pd')}:${PD_PORT}`;
  }

  /** The store that leads most regions now. */
  async busiestStore(): Promise<Container> {
    const address = await this.view.addressOf(await this.view.busiestStore());
    return this.stores.find(({ name }) => address.startsWith(`${alias('storage', name)}:`))!;
  }
}

async function registered(view: Pd, stores: number): Promise<void> {
  for (const endMs = performance.now() + REGISTERED_MAX_MS; (await view.storeCount()) < stores; await sleep(100)) {
    if (performance.now() > endMs) throw new Error(`PD knows fewer than ${stores} stores`);
  }
}

/** A member in a container. */
export class ContainerMember {
  readonly container: Container;

  private constructor(container: Container) {
    this.container = container;
  }

  /** Starts members that found a cluster. Resolves when all are ready. */
  static async startAll(
    engine: Engine,
    image: string,
    lab: ContainerLab,
    names: readonly string[],
  ): Promise<readonly ContainerMember[]> {
    const peer = (name: string): string => `http://${alias('peers', name)}:2380`;
    const initial = names.map((name) => `${name}=${peer(name)}`).join();
    const start = async (name: string, at: number): Promise<ContainerMember> => {
      const container = await engine.start({
        name,
        image,
        command: [
          `--name=${name}`,
          `--data-dir=${DATA}`,
          '--storage=tikv',
          `--tikv-pd-endpoints=${lab.address}`,
          '--tikv-prefix=containers',
          `--listen-client-urls=http://0.0.0.0:${CLIENT_PORT}`,
          `--advertise-client-urls=http://127.0.0.1:${publishedPort(at)}`,
          '--listen-peer-urls=http://0.0.0.0:2380',
          `--initial-advertise-peer-urls=${peer(name)}`,
          `--initial-cluster=${initial}`,
        ],
        networks: ['peers', 'storage'],
        published: { [CLIENT_PORT]: publishedPort(at) },
        memoryMib: 768,
      });
      return new ContainerMember(container);
    };
    const members = await Promise.all(names.map(start));
    await Promise.all(members.map((member) => member.ready()));
    return members;
  }

  get name(): string {
    return this.container.name;
  }

  get running(): boolean {
    return this.container.running;
  }

  /** Where clients outside of the containers find it. */
  get endpoint(): string {
    return this.container.published(CLIENT_PORT);
  }

  async startAgain(): Promise<void> {
    await this.container.start();
    await this.ready();
  }

  ready(): Promise<void> {
    return this.container.answers(CLIENT_PORT, '/readyz');
  }
}

/** Those of etcd's own Procfile. */
const publishedPort = (at: number): number => [2379, 22_379, 32_379][at]!;
