import { execFile } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const NAME = 'engram';
const WORKERS = 3;
const CREATE_MAX_MS = 600_000;
const COMMAND_MAX_MS = 180_000;

export interface RunOptions {
  readonly input?: string;
  readonly maxMs?: number;
}

/** Resolves with stdout. Rejects with what the program said if it does not end with 0 in time. */
export function run(program: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const timeout = options.maxMs ?? COMMAND_MAX_MS;
  const child = execFile(program, args, { timeout, maxBuffer: 64 << 20 }, (error, stdout, stderr) => {
    if (error === null) resolve(stdout);
    else reject(new Error(`${program} ${args.join(' ')}: ${error.message}\n${stderr}${stdout}`, { cause: error }));
  });
  child.stdin?.end(options.input ?? '');
  return promise;
}

interface KubeNode {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly podCIDR: string };
  readonly status: { readonly addresses: readonly { readonly type: string; readonly address: string }[] };
}

interface Pod {
  readonly spec: { readonly nodeName?: string };
  readonly status: {
    readonly podIP?: string;
    readonly containerStatuses?: readonly { readonly containerID?: string }[];
  };
}

/** A Kubernetes object to apply. */
export type Manifest = Readonly<Record<string, unknown>>;

/** A cluster of kind: a control plane and workers, each a container of the engine that DOCKER_HOST names. */
export class KindCluster {
  readonly #folder: string;
  readonly #kubeconfig: string;
  #controlPlane = '';

  private constructor(folder: string) {
    this.#folder = folder;
    this.#kubeconfig = join(folder, 'kubeconfig');
  }

  /** Resolves when all nodes are ready and names are served. */
  static async create(folder: string, image: string): Promise<KindCluster> {
    const cluster = new KindCluster(folder);
    const file = join(folder, 'kind.json');
    writeFileSync(file, JSON.stringify(configuration(image)));
    // One network of IPv4: what is cut on it is cut.
    await run('docker', ['network', 'inspect', 'kind']).catch(() => run('docker', ['network', 'create', 'kind']));
    const names = ['--name', NAME, '--config', file, '--kubeconfig', cluster.#kubeconfig];
    await run('kind', ['create', 'cluster', ...names, '--retain'], { maxMs: CREATE_MAX_MS });
    await cluster.kubectl('wait', 'nodes', '--all', '--for=jsonpath={.spec.podCIDR}', '--timeout=60s');
    await cluster.connectPods();
    await cluster.kubectl('wait', 'nodes', '--all', '--for=condition=Ready', '--timeout=120s');
    await cluster.kubectl('--namespace=kube-system', 'rollout', 'status', 'deployment/coredns', '--timeout=120s');
    return cluster;
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
    const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: manifests });
    await run('kubectl', ['--kubeconfig', this.#kubeconfig, 'apply', '--filename=-'], { input });
  }

  async get<T>(...args: readonly string[]): Promise<T> {
    return JSON.parse(await this.kubectl('get', ...args, '--output=json')) as T;
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
    await run('kind', ['load', 'image-archive', '--name', NAME, archive], { maxMs: CREATE_MAX_MS });
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

  /** Signals the first process of a pod's container, by containerd on its node. */
  async signal(pod: string, signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): Promise<void> {
    const { node, id } = await this.#container(pod);
    await this.onNode(node, ['ctr', '--namespace=k8s.io', 'tasks', 'kill', '--signal', signal, id]);
  }

  /** Drops all packets between a pod and these pods, or everybody. The returned function lets them pass again. */
  async cutOff(pod: string, others?: readonly string[]): Promise<() => Promise<void>> {
    const { node, address } = await this.#container(pod);
    const from = others === undefined ? undefined : await Promise.all(others.map((other) => this.#addressOf(other)));
    await this.onNode(node, ['nft', '--file', '-'], cutTable(address, from));
    return async () => {
      await this.onNode(node, ['nft', 'delete', 'table', 'inet', 'cut']);
    };
  }

  async pauseNode(node: string): Promise<void> {
    await run('docker', ['pause', node]);
  }

  async unpauseNode(node: string): Promise<void> {
    await run('docker', ['unpause', node]);
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

  async #container(pod: string): Promise<{ readonly node: string; readonly id: string; readonly address: string }> {
    const { spec, status } = await this.get<Pod>('pod', pod);
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
  const rules = `ip saddr ${address} ${to}drop; ip daddr ${address} ${from}drop;`;
  const chains = ['forward', 'input', 'output'].map(
    (hook) => `chain ${hook} { type filter hook ${hook} priority 0; ${rules} }`,
  );
  return `table inet cut {\n${chains.join('\n')}\n}\n`;
}

function configuration(image: string): Manifest {
  const kubelet = {
    kind: 'KubeletConfiguration',
    // kubelet of this version takes the first version of control groups only if told to.
    failCgroupV1: false,
    oomScoreAdj: 0,
    // A process that is killed again is not to wait for minutes.
    crashLoopBackOff: { maxContainerRestartPeriod: '2s' },
  };
  const roles = ['control-plane', ...Array.from({ length: WORKERS }, () => 'worker')];
  return {
    kind: 'Cluster',
    apiVersion: 'kind.x-k8s.io/v1alpha4',
    networking: {
      disableDefaultCNI: true,
      apiServerAddress: '127.0.0.1',
      apiServerPort: 34_443,
      ipFamily: 'ipv4',
      // No name is looked up in the domains of this machine.
      dnsSearch: [],
    },
    kubeadmConfigPatches: [JSON.stringify(kubelet)],
    nodes: roles.map((role) => ({ role, image })),
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
