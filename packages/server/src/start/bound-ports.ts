import { BoundPort, type ListenAddress } from '@engram/transport';
import type { NodeConfig } from '../config/node-config.ts';
import type { ServeUrl } from '../flags/urls.ts';

/**
 * The ports for clients and for other members, before they are served. They are bound before anything else is opened, as in
 * etcd (embed.StartEtcd): a start that cannot have its ports must not take the data, or the Raft state, of a member that runs.
 */
export class BoundPorts implements Disposable {
  readonly #ports = new Map<ServeUrl, BoundPort>();

  private constructor() {}

  /** Rejects with `cannot listen on ...`, and has bound nothing then. */
  static async bind(config: NodeConfig): Promise<BoundPorts> {
    const { listenClientUrls, listenClientHttpUrls, cluster } = config;
    const ports = new BoundPorts();
    try {
      for (const url of cluster?.listenPeerUrls ?? []) await ports.#bind(url, config, 'cannot listen for peers on');
      for (const url of [...listenClientUrls, ...listenClientHttpUrls])
        await ports.#bind(url, config, 'cannot listen on');
    } catch (error) {
      ports[Symbol.dispose]();
      throw error;
    }
    return ports;
  }

  /** The port of a URL of the configuration. */
  of(url: ServeUrl): BoundPort {
    return this.#ports.get(url)!;
  }

  [Symbol.dispose](): void {
    for (const port of this.#ports.values()) port.close();
  }

  async #bind(url: ServeUrl, config: NodeConfig, failure: string): Promise<void> {
    try {
      this.#ports.set(url, await BoundPort.bind(listenAddress(url, config)));
    } catch (cause) {
      throw new Error(`${failure} ${url.text}`, { cause });
    }
  }
}

export function listenAddress(
  { path, host, port }: ServeUrl,
  { reusePort }: Pick<NodeConfig, 'reusePort'>,
): ListenAddress {
  if (path !== undefined) return { kind: 'unix', path };
  // Go listens on the IPv4 loopback for this name. Node would use the resolver's first address.
  return { kind: 'tcp', host: host === 'localhost' ? '127.0.0.1' : host, port, reusePort };
}
