import { setTimeout as pause } from 'node:timers/promises';
import { alerts } from '../../tools/observe/rules.ts';
import type { PrometheusServer } from './prometheus-server.ts';

const FIRES_MAX_MS = 45_000;
/** More than this part takes. */
const ALL_SECONDS = 600;

/** The alerts that members fire, by our rules and by etcd's own. */
export class LiveAlerts {
  readonly #server: PrometheusServer;
  readonly #fired = new Set<string>();

  constructor(server: PrometheusServer) {
    this.#server = server;
  }

  /** The names of what has fired by its cause. */
  get fired(): readonly string[] {
    return [...this.#fired].sort();
  }

  /**
   * Each named alert is silent at a cluster, `cause` begins what fires it, and it fires in each of its severities: by our rule
   * and, if it is one of etcd's, by etcd's. Then the cause is ended by what `cause` has returned. With `alsoBefore` it may have fired, because
   * of an earlier cause or of a busy machine: what fires from the cause on counts.
   */
  async fires(
    cluster: string,
    names: readonly string[],
    cause: () => Promise<() => Promise<void>>,
    { alsoBefore = false }: { readonly alsoBefore?: boolean } = {},
  ): Promise<void> {
    const wanted = names.flatMap((name) => seriesOf(name, cluster));
    const early = alsoBefore ? [] : await this.#haveFired(wanted, ALL_SECONDS);
    if (early.length > 0) throw new Error(`before the cause: ${early.join('; ')}`);
    const begin = performance.now();
    const end = await cause();
    try {
      for (;;) {
        const seconds = Math.floor((performance.now() - begin) / 1000);
        const fired = new Set(seconds === 0 ? [] : await this.#haveFired(wanted, seconds));
        if (fired.size === wanted.length) break;
        if (performance.now() - begin > FIRES_MAX_MS)
          throw new Error(`silent: ${wanted.filter((each) => !fired.has(each)).join('; ')}`);
        await pause(200);
      }
    } finally {
      await end();
    }
    for (const name of names) this.#fired.add(name);
  }

  /** These have not fired at a cluster. */
  async silent(cluster: string, names: readonly string[]): Promise<void> {
    const series = names.flatMap((name) => seriesOf(name, cluster));
    const fired = await this.#haveFired(series, ALL_SECONDS);
    if (fired.length > 0) throw new Error(`fired: ${fired.join('; ')}`);
  }

  /** Which of these were firing at any time of the last seconds: some causes do not last. */
  async #haveFired(series: readonly string[], seconds: number): Promise<readonly string[]> {
    const fired: string[] = [];
    for (const each of series)
      if ((await this.#server.query(`max_over_time(${each}[${seconds}s])`)).length > 0) fired.push(each);
    return fired;
  }
}

function seriesOf(name: string, cluster: string): readonly string[] {
  const severities = alerts.filter((alert) => alert.name === name).map(({ severity }) => severity);
  if (severities.length === 0) throw new Error(`there is no alert ${name}`);
  return severities.flatMap((severity) =>
    (name.startsWith('etcd') ? ['engram', 'etcd'] : ['engram']).map(
      (rules) =>
        `ALERTS{alertname="${name}",severity="${severity}",cluster="${cluster}",rules="${rules}",alertstate="firing"}`,
    ),
  );
}
