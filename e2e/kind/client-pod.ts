import { setTimeout as sleep } from 'node:timers/promises';
import type { KindCluster } from './kind-cluster.ts';

const SEEN_MAX_MS = 30_000;

/** etcdctl in the cluster: a pod in which it runs, and pods that watch. */
export class ClientPod {
  readonly #cluster: KindCluster;
  readonly #name: string;

  private constructor(cluster: KindCluster, name: string) {
    this.#cluster = cluster;
    this.#name = name;
  }

  /** Resolves when the pod runs, and watches `key` at `endpoint` from the first revision on. */
  static async watching(cluster: KindCluster, image: string, name: string, endpoint: string, key: string) {
    const pod = new ClientPod(cluster, name);
    const command = ['etcdctl', '--endpoints', endpoint, 'watch', '--rev=1', key];
    await cluster.kubectl('run', name, `--image=${image}`, '--restart=Always', '--command', '--', ...command);
    await cluster.kubectl('wait', `pod/${name}`, '--for=condition=Ready', '--timeout=60s');
    return pod;
  }

  etcdctl(endpoint: string, ...args: readonly string[]): Promise<string> {
    return this.#cluster.kubectl('exec', this.#name, '--', 'etcdctl', '--endpoints', endpoint, ...args);
  }

  /** Resolves when the watch of this pod has seen a value. */
  async saw(value: string): Promise<void> {
    let log = '';
    for (const endMs = performance.now() + SEEN_MAX_MS; performance.now() < endMs; await sleep(100)) {
      log = await this.#cluster.kubectl('logs', this.#name);
      if (log.split('\n').includes(value)) return;
    }
    throw new Error(`the watch in ${this.#name} has not seen "${value}":\n${log}`);
  }

  async remove(): Promise<void> {
    await this.#cluster.kubectl('delete', 'pod', this.#name, '--grace-period=0', '--force');
  }
}
