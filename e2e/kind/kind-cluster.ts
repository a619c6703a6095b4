import { execFile } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const CREATE_MAX_MS = 600_000;
const COMMAND_MAX_MS = 300_000;
const SAYS_MAX_MS = 90_000;
const STARTED_AGAIN_MAX_MS = 60_000;

export interface RunOptions {
  readonly input?: string;
  readonly maxMs?: number;
}

/** Resolves with stdout. Rejects with what the program said if it does not end with 0 in time, by which it is killed. */
export function run(program: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const timeout = options.maxMs ?? COMMAND_MAX_MS;
  const bounds = { timeout, killSignal: 'SIGKILL', maxBuffer: 64 << 20 } as const;
  const child = execFile(program, args, bounds, (error, stdout, stderr) => {
    if (error === null) {
      resolve(stdout);
      return;
    }
    const late = error.killed === true ? ` (it has ${timeout} ms)` : '';
    const words = `${program} ${args.join(' ')}: ${error.message}${late}\n${stderr}${stdout}`;
    reject(new Error(words, { cause: error }));
  });
  child.stdin?.on('error', () => undefined); // of a program that ends without reading it: its exit code tells
  child.stdin?.end(options.input ?? '');
  return promise;
}

interface KubeConfig {
  readonly clusters: readonly { readonly cluster: Readonly<Record<'server' | 'certificate-authority-data', string>> }[];
  readonly users: readonly { readonly user: Readonly<Record<'client-certificate-data' | 'client-key-data', string>> }[];
}

interface KubeNode {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly podCIDR: string };
  readonly status: { readonly addresses: readonly { readonly type: string; readonly address: string }[] };
}

interface Pod {
  readonly metadata: { readonly uid: string };
  readonly spec: { readonly nodeName?: string };
  readonly status: {
    readonly podIP?: string;
    readonly containerStatuses?: readonly { readonly containerID?: string; readonly restartCount?: number }[];
  };
}

export interface StartedAgainOptions {
  readonly namespace?: string;
  readonly maxMs?: number;
}

/** A Kubernetes object to apply. */
export type Manifest = Readonly<Record<string, unknown>>;

export interface KindOptions {
  readonly name: string;
  /** Of a node. */
  readonly image: string;
  /** Without any, pods run on the control plane. */
  readonly workers: number;
  /** Where the API is served on this host. */
  readonly apiPort: number;
  /** Documents of YAML that change what kubeadm is given. */
  readonly kubeadmPatches?: readonly string[];
  /** Paths of this host by those where the control plane has them. */
  readonly mounts?: Readonly<Record<string, string>>;
}

/** Where the API is, and what its administrator shows. PEM. */
export interface ApiAccess {
  readonly server: string;
  readonly ca: Buffer;
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** A cluster of kind: a control plane and workers, each a container of the engine that DOCKER_HOST names. */
export class KindCluster {
  readonly #folder: string;
  readonly #name: string;
  readonly #kubeconfig: string;
  #controlPlane = '';

  private constructor(folder: string, name: string) {
    this.#folder = folder;
    this.#name = name;
    this.#kubeconfig = join(folder, `${name}-kubeconfig`);
  }

  /** Resolves when all nodes are ready and names are served. */
  static async create(folder: string, options: KindOptions): Promise<KindCluster> {
    const cluster = new KindCluster(folder, options.name);
    const file = join(folder, `${options.name}.json`);
    writeFileSync(file, JSON.stringify(configuration(options)));
    await network();
    const names = ['--name', options.name, '--config', file, '--kubeconfig', cluster.#kubeconfig];
    await run('kind', ['create', 'cluster', ...names, '--retain'], { maxMs: CREATE_MAX_MS });
    await cluster.kubectl('wait', 'nodes', '--all', '--for=jsonpath={.spec.podCIDR}', '--timeout=60s');
    await cluster.connectPods();
    await cluster.kubectl('wait', 'nodes', '--all', '--for=condition=Ready', '--timeout=120s');
    await cluster.kubectl('--namespace=kube-system', 'rollout', 'status', 'deployment/coredns', '--timeout=120s');
    return cluster;
  }

  get controlPlane(): string {
    return `${this.#name}-control-plane`;
  }

  /** The address of the control plane, where every node port is. */
  get address(): string {
    return this.#controlPlane;
  }

  kubectl(...args: readonly string[]): Promise<string> {
    return run('kubectl', ['--kubeconfig', this.#kubeconfig, ...args]);
  }

  helm(...args: readonly string[]): Promise<string> {
    return run('helm', ['--kubeconfig', this.#kubeconfig, ...args], { maxMs: 300_000 });
  }

  async apply(...manifests: readonly Manifest[]): Promise<void> {
    await this.#apply(manifests);
  }

  /** The API server checks the objects and each of their fields, and keeps none. Resolves with a line for each. */
  async dryRun(namespace: string, manifests: readonly Manifest[]): Promise<string> {
    return await this.#apply(manifests, '--dry-run=server', '--validate=strict', '--namespace', namespace);
  }

  async #apply(items: readonly Manifest[], ...flags: readonly string[]): Promise<string> {
    const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
    return await run('kubectl', ['--kubeconfig', this.#kubeconfig, 'apply', '--filename=-', ...flags], { input });
  }

  async get<T>(...args: readonly string[]): Promise<T> {
    return JSON.parse(await this.kubectl('get', ...args, '--output=json')) as T;
  }

  async access(): Promise<ApiAccess> {
    const view = JSON.parse(await this.kubectl('config', 'view', '--raw', '--minify', '--output=json')) as KubeConfig;
    const [{ cluster }, { user }] = [view.clusters[0]!, view.users[0]!];
    const pem = (data: string): Buffer => Buffer.from(data, 'base64');
    return {
      server: cluster.server,
      ca: pem(cluster['certificate-authority-data']),
      cert: pem(user['client-certificate-data']),
      key: pem(user['client-key-data']),
    };
  }

  /** Asks for a pod to be evicted, as a drain does. Rejects where a budget forbids it. */
  async evict(pod: string): Promise<void> {
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: pod, namespace: 'default' } };
    const path = `/api/v1/namespaces/default/pods/${pod}/eviction`;
    const args = ['--kubeconfig', this.#kubeconfig, 'create', '--raw', path, '--filename=-'];
    await run('kubectl', args, { input: JSON.stringify(eviction) });
  }

  /** Brings images of the engine to all nodes. */
  async load(...images: readonly string[]): Promise<void> {
    const archive = join(this.#folder, 'images.tar');
    await run('docker', ['save', '--output', archive, ...images]);
    await run('kind', ['load', 'image-archive', '--name', this.#name, archive], { maxMs: CREATE_MAX_MS });
    rmSync(archive);
  }

  /** Runs a command in a node. */
  onNode(node: string, command: readonly string[], input = ''): Promise<string> {
    return run('docker', ['exec', '--interactive', node, ...command], { input });
  }

  async workers(): Promise<readonly string[]> {
    const { items } = await this.get<{ readonly items: readonly KubeNode[] }>('nodes');
    return items.map(({ metadata }) => metadata.name).filter((name) => !name.endsWith('-control-plane'));
  }

  async nodeOf(pod: string): Promise<string> {
    return (await this.#container(pod)).node;
  }

  /** The identity of a pod: one that replaces it has another. */
  async uid(pod: string): Promise<string> {
    return (await this.get<Pod>('pod', pod)).metadata.uid;
  }

  uids(pods: readonly string[]): Promise<readonly string[]> {
    return Promise.all(pods.map((pod) => this.uid(pod)));
  }

  /** How often the container of a pod was started again. Rejects where it has none yet. */
  async restarts(pod: string, namespace = 'default'): Promise<number> {
    const { status } = await this.get<Pod>('pod', pod, '--namespace', namespace);
    const count = status.containerStatuses?.[0]?.restartCount;
    if (count === undefined) throw new Error(`${pod} has no container: ${JSON.stringify(status).slice(0, 2_000)}`);
    return count;
  }

  /** Resolves when the container of a pod was started again more than `before` times. The API may be away meanwhile. */
  async startedAgain(pod: string, before: number, options: StartedAgainOptions = {}): Promise<void> {
    const maxMs = options.maxMs ?? STARTED_AGAIN_MAX_MS;
    let last: unknown;
    for (const endMs = performance.now() + maxMs; performance.now() < endMs; await sleep(200)) {
      last = await this.restarts(pod, options.namespace).catch((error: unknown) => error);
      if (typeof last === 'number' && last > before) return;
    }
    throw new Error(
      `${pod} was not started again within ${maxMs} ms: ${before} times before, and now: ${String(last)}`,
    );
  }

  /** Whether the first process of a pod's container stands still, by a signal. */
  async isStopped(pod: string): Promise<boolean> {
    const { node, id } = await this.#container(pod);
    const tasks = await this.onNode(node, ['ctr', '--namespace=k8s.io', 'tasks', 'list']);
    const process = new RegExp(`^${id}\\s+(\\d+)`, 'm').exec(tasks)?.[1];
    if (process === undefined) throw new Error(`${pod} has no process:\n${tasks}`);
    return /\) [Tt] /.test(await this.onNode(node, ['cat', `/proc/${process}/stat`]));
  }

  /** Resolves when the container of a pod, or the one before it, has said this. */
  async says(pod: string, text: RegExp): Promise<void> {
    let said = '';
    for (const endMs = performance.now() + SAYS_MAX_MS; performance.now() < endMs; await sleep(500)) {
      const logs = [[], ['--previous']].map((which) =>
        this.kubectl('logs', pod, '--tail=50', ...which).catch((error: unknown) => String(error)),
      );
      said = (await Promise.all(logs)).join('');
      if (text.test(said)) return;
    }
    throw new Error(`${pod} does not say ${text}:\n${said.slice(-4_000)}`);
  }

  /** Signals the first process of a pod's container, by containerd on its node. */
  async signal(pod: string, signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT', namespace = 'default'): Promise<void> {
    const { node, id } = await this.#container(pod, namespace);
    await this.onNode(node, ['ctr', '--namespace=k8s.io', 'tasks', 'kill', '--signal', signal, id]);
  }

  /** Drops all packets between a pod and these pods, or everybody. The returned function lets them pass again, and rejects if there were none. */
  async cutOff(pod: string, others?: readonly string[]): Promise<() => Promise<void>> {
    const { node, address } = await this.#container(pod);
    const from = others === undefined ? undefined : await Promise.all(others.map((other) => this.#addressOf(other)));
    await this.onNode(node, ['nft', '--file', '-'], cutTable(address, from));
    return async () => {
      const table = await this.onNode(node, ['nft', 'list', 'table', 'inet', 'cut']);
      await this.onNode(node, ['nft', 'delete', 'table', 'inet', 'cut']);
      if (!/counter packets [1-9]/.test(table)) throw new Error(`nothing of ${pod} was dropped:\n${table}`);
    };
  }

  async pauseNode(node: string): Promise<void> {
    await run('docker', ['pause', node]);
  }

  async unpauseNode(node: string): Promise<void> {
    await run('docker', ['unpause', node]);
  }

  /** All nodes stand still, and take no more of the processors. */
  async freeze(): Promise<void> {
    const { items } = await this.get<{ readonly items: readonly KubeNode[] }>('nodes');
    await run('docker', ['pause', ...items.map(({ metadata }) => metadata.name)]);
  }

  /** The memory of each node, with all that runs on it. */
  async memory(): Promise<string> {
    const lines = await run('docker', ['stats', '--no-stream', '--format', '{{.Name}} {{.MemUsage}}']);
    return lines
      .trim()
      .replaceAll(/ \/ \S+/g, '')
      .split('\n')
      .sort()
      .join(', ');
  }

  /**
   * Pods of different nodes reach each other: an interface for each, and routes between the nodes. No daemon does it here, so a
   * node that was started again needs it again.
   */
  async connectPods(): Promise<void> {
    const { items: nodes } = await this.get<{ readonly items: readonly KubeNode[] }>('nodes');
    const addressOf = ({ status }: KubeNode): string =>
      status.addresses.find(({ type }) => type === 'InternalIP')!.address;
    this.#controlPlane = addressOf(nodes.find(({ metadata }) => metadata.name.endsWith('-control-plane'))!);
    for (const node of nodes) {
      const { metadata, spec } = node;
      const routes = nodes
        .filter((other) => other !== node)
        .map((other) => `ip route replace ${other.spec.podCIDR} via ${addressOf(other)}`);
      // Whoever calls a pod that is just gone hears so at once. Its packets would leave by the default route, and be lost.
      routes.push(`ip route replace unreachable ${spec.podCIDR}`);
      const script = ['cat > /etc/cni/net.d/10-routes.conflist', ...routes].join(' && ');
      await this.onNode(metadata.name, ['sh', '-c', script], JSON.stringify(interfaces(spec.podCIDR)));
    }
  }

  async #addressOf(pod: string): Promise<string> {
    const { status } = await this.get<Pod>('pod', pod);
    if (status.podIP === undefined) throw new Error(`${pod} has no address`);
    return status.podIP;
  }

  async #container(
    pod: string,
    namespace = 'default',
  ): Promise<{ readonly node: string; readonly id: string; readonly address: string }> {
    const { spec, status } = await this.get<Pod>('pod', pod, '--namespace', namespace);
    const id = status.containerStatuses?.[0]?.containerID?.replace('containerd://', '');
    if (spec.nodeName === undefined || id === undefined || status.podIP === undefined)
      throw new Error(`${pod} does not run`);
    return { node: spec.nodeName, id, address: status.podIP };
  }
}

/** What crosses a node between the address and the others passes `forward`; what the node itself says or hears, the two others. */
function cutTable(address: string, others?: readonly string[]): string {
  const set = others === undefined ? undefined : `{ ${others.join(', ')} }`;
  const [from, to] = [set === undefined ? '' : `ip saddr ${set} `, set === undefined ? '' : `ip daddr ${set} `];
  const rules = `ip saddr ${address} ${to}counter drop; ip daddr ${address} ${from}counter drop;`;
  const chains = ['forward', 'input', 'output'].map(
    (hook) => `chain ${hook} { type filter hook ${hook} priority 0; ${rules} }`,
  );
  return `table inet cut {\n${chains.join('\n')}\n}\n`;
}

/** Makes the network of all nodes, unless it is there. Returns the address of this host in it. */
export async function network(): Promise<string> {
  const inspect = ['network', 'inspect', 'kind', '--format', '{{(index .IPAM.Config 0).Gateway}}'];
  // Of IPv4 alone: what is cut on it is cut.
  const found = await run('docker', inspect).catch(async () => {
    await run('docker', ['network', 'create', 'kind']);
    return await run('docker', inspect);
  });
  return found.trim();
}

function configuration({ image, workers, apiPort, kubeadmPatches = [], mounts = {} }: KindOptions): Manifest {
  const kubelet = {
    kind: 'KubeletConfiguration',
    // kubelet of this version takes the first version of control groups only if told to.
    failCgroupV1: false,
    oomScoreAdj: 0,
    // A process that is killed again is not to wait for minutes.
    crashLoopBackOff: { maxContainerRestartPeriod: '2s' },
  };
  const extraMounts = Object.entries(mounts).map(([containerPath, hostPath]) => ({ containerPath, hostPath }));
  const controlPlane = { role: 'control-plane', image, extraMounts };
  const others = Array.from({ length: workers }, () => ({ role: 'worker', image }));
  return {
    kind: 'Cluster',
    apiVersion: 'kind.x-k8s.io/v1alpha4',
    networking: {
      disableDefaultCNI: true,
      apiServerAddress: '127.0.0.1',
      apiServerPort: apiPort,
      ipFamily: 'ipv4',
      // No name is looked up in the domains of this machine.
      dnsSearch: [],
    },
    kubeadmConfigPatches: [JSON.stringify(kubelet), ...kubeadmPatches],
    nodes: [controlPlane, ...others],
  };
}

function interfaces(subnet: string): Manifest {
  const ipam = {
    type: 'host-local',
    dataDir: '/run/cni-addresses',
    routes: [{ dst: '0.0.0.0/0' }],
    ranges: [[{ subnet }]],
  };
  return {
    cniVersion: '0.3.1',
    name: 'routes',
    plugins: [
      { type: 'ptp', ipMasq: false, ipam },
      { type: 'portmap', capabilities: { portMappings: true } },
    ],
  };
}
