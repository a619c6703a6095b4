import type { KindCluster } from './kind-cluster.ts';
import { KubeApi, type KubeObject } from './kube-api.ts';

const PODS_PATH = '/api/v1/namespaces/default/pods';
/** Of a process that SIGKILL has ended, also by kubelet. */
const KILLED = 137;
const OUT_OF_MEMORY = 'OOMKilled';

/** Sees how the containers of some pods end. */
export class ContainerEnds implements AsyncDisposable {
  /** Those that have ended by themselves: not by SIGKILL, and not in a pod that is being deleted. */
  readonly byThemselves: string[] = [];
  /** How many were seen. Those of pods that are removed at once are not. */
  get count(): number {
    return this.#seen.size;
  }

  readonly #seen = new Set<string>();
  readonly #api: KubeApi;
  readonly #watch: AsyncDisposable;

  private constructor(api: KubeApi, resourceVersion: string, names: RegExp) {
    this.#api = api;
    this.#watch = api.watch(PODS_PATH, resourceVersion, (type, pod) => {
      if (type === 'ERROR') this.byThemselves.push(`the watch of pods: ${JSON.stringify(pod)}`);
      else if (names.test(pod.metadata.name)) this.#look(pod);
    });
  }

  /** Of pods with these names, from now on. */
  static async of(cluster: KindCluster, names: RegExp): Promise<ContainerEnds> {
    const api = new KubeApi(await cluster.access());
    const { resourceVersion } = await api.list(PODS_PATH);
    return new ContainerEnds(api, resourceVersion, names);
  }

  #look({ metadata, status }: KubeObject): void {
    for (const container of status?.containerStatuses ?? []) {
      for (const end of [container.state?.terminated, container.lastState?.terminated]) {
        const id = end?.containerID;
        if (end === undefined || id === undefined || this.#seen.has(id)) continue;
        this.#seen.add(id);
        const wanted =
          end.reason !== OUT_OF_MEMORY && (end.exitCode === KILLED || metadata.deletionTimestamp !== undefined);
        if (!wanted) this.byThemselves.push(`${metadata.name} with ${end.exitCode} (${end.reason ?? ''})`);
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#watch[Symbol.asyncDispose]();
    this.#api.close();
  }
}
