import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { GenericContainer, getContainerRuntimeClient, type StartupStatus, StartupCheckStrategy } from 'testcontainers';
import { tool } from '../release/member.ts';

/** A network of the engine. All containers are in `clients`, where their published ports are; in the others by what they are. */
export type NetworkName = 'clients' | 'peers' | 'storage';

export interface Place {
  readonly name: string;
  readonly image: string;
  readonly command: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Its networks beside `clients`. In each it has an alias, by which it is found there alone. */
  readonly networks: readonly Exclude<NetworkName, 'clients'>[];
  /** Ports of the container by those of this host: fixed, for a container gets new ones each time it is started. */
  readonly published: Readonly<Record<number, number>>;
  readonly memoryMib: number;
  /** Whether the engine starts it again when it fails by itself. Not when it is killed through the engine. */
  readonly restarted?: boolean;
}

const START_MAX_MS = 150_000;
const END_MAX_MS = 60_000;
const IMAGE_MAX_MS = 300_000;
const KILLED = 137;
const CONFLICT = 409;

/** The name by which a container is found in a network, and in no other. */
export const alias = (network: NetworkName, name: string): string => `${network}-${name}`;

type RuntimeClient = Awaited<ReturnType<typeof getContainerRuntimeClient>>;
type Docker = RuntimeClient['container']['dockerode'];

/** The engine that DOCKER_HOST names, through testcontainers and its client. */
export class Engine {
  readonly #docker: Docker;
  readonly #program: string;
  readonly #started: Container[] = [];

  private constructor(docker: Docker, program: string) {
    this.#docker = docker;
    this.#program = program;
  }

  /** `program`: the engine's command-line client, which loads and builds images. */
  static async connect(program: string): Promise<Engine> {
    const { container } = await getContainerRuntimeClient();
    return new Engine(container.dockerode, program);
  }

  /** Loads the image of the release below `folder`, and builds that of the lab over it. Returns their names. */
  async images(folder: string): Promise<{ readonly engram: string; readonly lab: string }> {
    const release = join(folder, 'release');
    const archive = readdirSync(release).find((name) => /image-\w+\.tar$/.test(name))!;
    const said = await this.#run('load', '--input', join(release, archive));
    const engram = /^Loaded image: (\S+)$/m.exec(said)![1]!;
    const lab = 'engram-lab:e2e';
    await this.#run('build', '--build-arg', `ENGRAM=${engram}`, '--tag', lab, join(folder, 'lab-image'));
    return { engram, lab };
  }

  /** The networks, of which only `clients` leads out of its containers. */
  async networks(): Promise<void> {
    await this.#docker.createNetwork({ Name: 'clients' });
    for (const name of ['peers', 'storage']) await this.#docker.createNetwork({ Name: name, Internal: true });
  }

  /** Makes and starts a container without rights, on a read-only file system but for its volume. */
  async start(place: Place): Promise<Container> {
    const { name, command, environment = {}, published, memoryMib } = place;
    const made = new PlacedContainer(place, this.#docker)
      .withName(name)
      .withCommand([...command])
      .withEnvironment({ ...environment })
      .withNetworkMode('clients')
      .withExposedPorts(...Object.entries(published).map(([port, host]) => ({ container: Number(port), host })))
      .withTmpFs({ '/tmp': 'rw' })
      .withDroppedCapabilities('ALL')
      .withResourcesQuota({ memory: memoryMib / 1024 })
      .withWaitStrategy(new Started());
    const started = await made.start();
    const container = new Container(this.#docker, started.getId(), place, (lines) => this.#logs(name, lines));
    this.#started.push(container);
    return container;
  }

  /** The ends of the logs of all containers. */
  async logs(lines: number): Promise<string> {
    const ends = await Promise.all(this.#started.map(async (each) => `-- ${each.name}\n${await each.log(lines)}`));
    return ends.join('\n');
  }

  async #logs(name: string, lines: number): Promise<string> {
    const { stdout, stderr } = await tool.ends(this.#program, ['logs', '--tail', String(lines), name], this.#options);
    return `${stdout}${stderr}`;
  }

  #run(...args: readonly string[]): Promise<string> {
    return tool(this.#program, args, { ...this.#options, withinMs: IMAGE_MAX_MS });
  }

  get #options(): { readonly env: Readonly<Record<string, string>> } {
    return { env: { DOCKER_HOST: process.env['DOCKER_HOST'] ?? '' } };
  }
}

/** A container that is in several networks before its process starts. */
class PlacedContainer extends GenericContainer {
  readonly #place: Place;
  readonly #docker: Docker;

  constructor(place: Place, docker: Docker) {
    super(place.image);
    this.#place = place;
    this.#docker = docker;
    this.hostConfig.ReadonlyRootfs = true;
    this.hostConfig.SecurityOpt = ['no-new-privileges'];
    if (place.restarted === true) this.hostConfig.RestartPolicy = { Name: 'on-failure' };
  }

  protected override async containerCreated(id: string): Promise<void> {
    for (const network of this.#place.networks) await connect(this.#docker, network, id, this.#place.name);
  }
}

/** A container has started when its process runs. What it serves is asked for later: members need each other for that. */
class Started extends StartupCheckStrategy {
  override async checkStartupState(docker: Docker, id: string): Promise<StartupStatus> {
    const { State: state } = await docker.getContainer(id).inspect();
    return state.Running ? 'SUCCESS' : 'FAIL';
  }
}

async function connect(docker: Docker, network: NetworkName, id: string, name: string): Promise<void> {
  await docker.getNetwork(network).connect({
    Container: id,
    EndpointConfig: { Aliases: [alias(network, name)] },
  });
}

const isConflict = (error: unknown): boolean =>
  error instanceof Error && 'statusCode' in error && error.statusCode === CONFLICT;

/** A container that can be made to fail. It is started again by nobody but `start`. */
export class Container {
  readonly name: string;
  running = true;
  readonly #docker: Docker;
  readonly #id: string;
  readonly #place: Place;
  readonly #readLog: (lines: number) => Promise<string>;

  constructor(docker: Docker, id: string, place: Place, readLog: (lines: number) => Promise<string>) {
    this.#docker = docker;
    this.#id = id;
    this.#place = place;
    this.name = place.name;
    this.#readLog = readLog;
  }

  get #container(): ReturnType<Docker['getContainer']> {
    return this.#docker.getContainer(this.#id);
  }

  /** host:port of a port of the container that is published. */
  published(port: number): string {
    return `127.0.0.1:${this.#place.published[port]}`;
  }

  /** The end of its log. */
  log(lines: number): Promise<string> {
    return this.#readLog(lines);
  }

  async pause(): Promise<void> {
    await this.#onceRunning(() => this.#container.pause());
  }

  async unpause(): Promise<void> {
    await this.#container.unpause();
  }

  async kill(): Promise<void> {
    this.running = false;
    await this.#onceRunning(() => this.#container.kill());
    const code = await this.#ended();
    // It may have failed by itself in that moment. It is not started again: the engine knows that it was to be killed.
    if (code !== KILLED && this.#place.restarted !== true) await this.#hasEndedWith(code);
  }

  /** Rejects if its process does not end by SIGTERM with 0. */
  async stop(): Promise<void> {
    this.running = false;
    await this.#container.stop({ t: END_MAX_MS / 1000 });
    const code = await this.#ended();
    if (code !== 0) await this.#hasEndedWith(code);
  }

  async #ended(): Promise<number> {
    const late = sleep(END_MAX_MS, undefined, { ref: false });
    const end = await Promise.race([this.#container.wait() as Promise<{ readonly StatusCode: number }>, late]);
    if (end === undefined) throw new Error(`${this.name} does not end:\n${await this.log(10)}`);
    return end.StatusCode;
  }

  async #hasEndedWith(code: number): Promise<never> {
    throw new Error(`${this.name} has ended with ${code}:\n${await this.log(10)}`);
  }

  /** The engine refuses to pause or kill what has failed by itself. What it starts again runs soon. */
  async #onceRunning(change: () => Promise<unknown>): Promise<void> {
    for (const endMs = performance.now() + START_MAX_MS; ; await sleep(100)) {
      try {
        await change();
        return;
      } catch (error) {
        if (this.#place.restarted !== true || !isConflict(error) || performance.now() > endMs) throw error;
      }
    }
  }

  /** Starts it again. */
  async start(): Promise<void> {
    await this.#container.start();
    this.running = true;
  }

  /** Disconnects it from networks. The returned function connects it again. */
  async disconnect(...networks: readonly NetworkName[]): Promise<() => Promise<void>> {
    for (const network of networks) await this.#docker.getNetwork(network).disconnect({ Container: this.#id });
    return async () => {
      for (const network of networks) await connect(this.#docker, network, this.#id, this.name);
    };
  }

  /** Why its process has ended by itself. Undefined if it has not. */
  async violation(): Promise<string | undefined> {
    const { State: state } = await this.#container.inspect();
    if (state.Running) return undefined;
    return `${this.name} has ended by itself with ${state.ExitCode}:\n${await this.log(10)}`;
  }

  /** Resolves when an HTTP request to `path` of a published port is answered with 200. */
  async answers(port: number, path: string): Promise<void> {
    for (const endMs = performance.now() + START_MAX_MS; ; await sleep(50)) {
      const answer = await fetch(`http://${this.published(port)}${path}`, {
        signal: AbortSignal.timeout(2_000),
      }).catch(() => undefined);
      await answer?.body?.cancel();
      if (answer?.status === 200) return;
      if (performance.now() > endMs) throw new Error(`${this.name} does not answer ${path}:\n${await this.log(10)}`);
    }
  }
}
