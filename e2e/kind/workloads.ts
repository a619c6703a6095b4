import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import { root } from '../../tools/release/bundle.ts';
import { Pd } from '../tikv/pd.ts';
import type { KindCluster, Manifest } from './kind-cluster.ts';

const STORES = 3;
const REGISTERED_MAX_MS = 120_000;
const PD_NODE_PORT = 30_379;
const READY_MAX_MS = 150_000;
const DOMAIN = 'default.svc.cluster.local';
/** What e2e/tikv/lab/start-store gives a store. */
const STORE_ENVIRONMENT = { GOMEMLIMIT: '768MiB', GOGC: '60' };
const CHART = join(root, 'helm/engram');

export const nodePort = (
  name: string,
  selector: Readonly<Record<string, string>>,
  port: number,
  at: number,
): Manifest => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name },
  spec: { type: 'NodePort', selector, ports: [{ port, targetPort: port, nodePort: at }] },
});

/** A set of pods of the lab, on the control plane: a drained worker takes no data of TiKV along. */
function labSet(
  name: string,
  replicas: number,
  image: string,
  command: readonly string[],
  environment: Readonly<Record<string, string>>,
): readonly Manifest[] {
  const labels = { app: name };
  const container = {
    name,
    image,
    command,
    env: [
      { name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
      ...Object.entries(environment).map(([key, value]) => ({ name: key, value })),
    ],
    volumeMounts: [{ name: 'data', mountPath: '/var/lib/engram' }],
  };
  return [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name },
      spec: { clusterIP: 'None', publishNotReadyAddresses: true, selector: labels, ports: [{ port: 2379 }] },
    },
    {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name },
      spec: {
        replicas,
        serviceName: name,
        podManagementPolicy: 'OrderedReady',
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: {
            nodeSelector: { 'node-role.kubernetes.io/control-plane': '' },
            tolerations: [{ key: 'node-role.kubernetes.io/control-plane', operator: 'Exists', effect: 'NoSchedule' }],
            securityContext: { fsGroup: 65532 },
            enableServiceLinks: false,
            containers: [container],
            volumes: [{ name: 'data', emptyDir: {} }],
          },
        },
      },
    },
  ];
}

/** PD and the stores in pods. */
export class PodLab {
  readonly view: Pd;
  readonly pdPod = 'pd-0';
  /** All pods of it. */
  readonly pods: readonly string[] = [this.pdPod, ...Array.from({ length: STORES }, (_, at) => `store-${at}`)];
  /** PD's address for members. */
  readonly address = `pd-0.pd.${DOMAIN}:2379`;

  private constructor(view: Pd) {
    this.view = view;
  }

  /** Resolves when every region has a copy on every store. */
  static async start(cluster: KindCluster, image: string): Promise<PodLab> {
    const lab = new PodLab(new Pd(() => [`${cluster.address}:${PD_NODE_PORT}`]));
    const peer = `http://pd-0.pd.${DOMAIN}:2380`;
    const pd = [
      'pd-server',
      '--name=pd-0',
      '--data-dir=/var/lib/engram/pd',
      '--config=/etc/pd.toml',
      '--client-urls=http://0.0.0.0:2379',
      `--advertise-client-urls=http://${lab.address}`,
      '--peer-urls=http://0.0.0.0:2380',
      `--advertise-peer-urls=${peer}`,
      `--initial-cluster=pd-0=${peer}`,
    ];
    const store = [
      'unistore-lab',
      `-pd=${lab.address}`,
      `-addr=$(POD_NAME).store.${DOMAIN}:20160`,
      '-data-dir=/var/lib/engram/store',
    ];
    await cluster.apply(
      ...labSet('pd', 1, image, pd, { GOMEMLIMIT: '256MiB' }),
      nodePort('pd-outside', { app: 'pd' }, 2379, PD_NODE_PORT),
      ...labSet('store', 1, image, store, STORE_ENVIRONMENT),
    );
    await cluster.kubectl('rollout', 'status', 'statefulset/pd', '--timeout=120s');
    await lab.#registered(1);
    await lab.view.forgetKeyspaces();
    await cluster.kubectl('scale', 'statefulset/store', `--replicas=${STORES}`);
    await lab.#registered(STORES);
    await lab.view.replicated(STORES);
    return lab;
  }

  async #registered(stores: number): Promise<void> {
    for (
      const endMs = performance.now() + REGISTERED_MAX_MS;
      (await this.view.storeCount()) < stores;
      await sleep(200)
    ) {
      if (performance.now() > endMs) throw new Error(`PD knows fewer than ${stores} stores`);
    }
  }

  /** The pod of the store that leads most regions now. */
  async busiestStore(): Promise<string> {
    const address = await this.view.addressOf(await this.view.busiestStore());
    return address.split('.')[0]!;
  }
}

/** A release of the chart, and where its members are found from outside of the cluster. */
export class ChartRelease {
  readonly name: string;
  readonly #cluster: KindCluster;
  readonly #firstPort: number;
  readonly #secured: boolean;
  #values: Readonly<Record<string, string>>;
  #members: readonly PodMember[] = [];

  /** `firstPort`: of a node, for the first member; those of the others follow. */
  constructor(cluster: KindCluster, name: string, firstPort: number, values: Readonly<Record<string, string>>) {
    this.#cluster = cluster;
    this.name = name;
    this.#firstPort = firstPort;
    this.#secured = values['auth.client.secureTransport'] === 'true';
    // Small requests: all of it is on one machine.
    this.#values = {
      fullnameOverride: name,
      'resources.requests.cpu': '10m',
      'resources.requests.memory': '128Mi',
      ...values,
    };
  }

  /** Resolves when `members` members serve. Returns as many places of members as there will ever be. */
  async install(members: number, places = members): Promise<readonly PodMember[]> {
    const all = Array.from({ length: places }, (_, at): PodMember => {
      const endpoint = `${this.#cluster.address}:${this.#firstPort + at}`;
      return { name: `${this.name}-${at}`, endpoint, running: true };
    });
    await this.#cluster.apply(
      ...all.map(({ name }, at) =>
        nodePort(`${name}-outside`, { 'statefulset.kubernetes.io/pod-name': name }, 2379, this.#firstPort + at),
      ),
    );
    this.#members = all.slice(0, members);
    await this.apply();
    await this.ready();
    return all;
  }

  /** The name by which a member is found in the cluster. */
  hostOf({ name }: PodMember): string {
    return `${name}.${this.name}-headless.${DOMAIN}`;
  }

  /** Installs or upgrades. Resolves when Helm takes all members for ready. */
  async apply(...more: readonly string[]): Promise<void> {
    await this.#upgrade('--wait', '--timeout=240s', ...more);
  }

  /** Upgrades to this number of members, whose pods are waited for by `rolledOut`. */
  async scale(members: readonly PodMember[]): Promise<void> {
    this.#members = members;
    this.#values = { ...this.#values, replicaCount: String(members.length), initialClusterState: 'existing' };
    await this.#upgrade();
  }

  async #upgrade(...more: readonly string[]): Promise<void> {
    const values = Object.entries(this.#values).flatMap(([key, value]) => ['--set', `${key}=${value}`]);
    await this.#cluster.helm('upgrade', '--install', this.name, CHART, ...values, ...more);
  }

  /** Resolves when all pods are of the last upgrade, and ready. */
  async rolledOut(): Promise<void> {
    await this.#cluster.kubectl('rollout', 'status', `statefulset/${this.name}`, '--timeout=280s');
    await this.ready();
  }

  /**
   * Resolves when all pods are there and ready for Kubernetes, and each member answers outside of the cluster that it is.
   * One that asks for certificates is not asked.
   */
  async ready(): Promise<void> {
    const selector = `app.kubernetes.io/instance=${this.name},app.kubernetes.io/component=member`;
    for (const endMs = performance.now() + READY_MAX_MS; ; await sleep(200)) {
      const { items } = await this.#cluster.get<{ readonly items: readonly PodState[] }>(
        'pods',
        '--selector',
        selector,
      );
      if (items.length === this.#members.length && items.every(isReady)) break;
      if (performance.now() > endMs) throw new Error(`pods of ${this.name}: ${JSON.stringify(items).slice(0, 2_000)}`);
    }
    if (!this.#secured) await Promise.all(this.#members.map(answers));
  }
}

interface PodState {
  readonly metadata: { readonly deletionTimestamp?: string };
  readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

const isReady = ({ metadata, status }: PodState): boolean =>
  metadata.deletionTimestamp === undefined &&
  (status.conditions ?? []).some((condition) => condition.type === 'Ready' && condition.status === 'True');

async function answers({ name, endpoint }: PodMember): Promise<void> {
  let last = '';
  for (const endMs = performance.now() + READY_MAX_MS; performance.now() < endMs; await sleep(50)) {
    try {
      const answer = await fetch(`http://${endpoint}/readyz`, { signal: AbortSignal.timeout(2_000) });
      last = await answer.text();
      if (answer.ok) return;
    } catch (error) {
      last = String(error);
    }
  }
  throw new Error(`${name} is not ready after ${READY_MAX_MS} ms: ${last}`);
}

/** A member in a pod, which has its name. */
export interface PodMember {
  readonly name: string;
  readonly endpoint: string;
  /** Whether it may be asked who leads. */
  readonly running: boolean;
}
