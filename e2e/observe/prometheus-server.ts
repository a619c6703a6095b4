import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { stringify } from 'yaml';
import { freePorts } from '../../test/support/free-port.ts';

const READY_MAX_MS = 30_000;

export interface ServerOptions {
  readonly program: string;
  /** For its configuration and its data; it must not exist. */
  readonly folder: string;
  readonly ruleFiles: readonly string[];
  readonly targets: readonly Target[];
}

export interface Target {
  /** host:port */
  readonly address: string;
  readonly cluster: string;
}

export interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
}

/** A Prometheus that scrapes members each second, with the labels that the chart's monitors set. */
export class PrometheusServer implements AsyncDisposable {
  readonly #child: ChildProcess;

  readonly #url: string;

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.#url = url;
  }

  static async start({ program, folder, ruleFiles, targets }: ServerOptions): Promise<PrometheusServer> {
    mkdirSync(folder);
    const config = join(folder, 'prometheus.yaml');
    const [port] = await freePorts(1);
    const url = `http://127.0.0.1:${port}`;
    writeFileSync(
      config,
      stringify({
        global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
        rule_files: ruleFiles,
        scrape_configs: [
          {
            job_name: 'engram-etcd',
            static_configs: targets.map(({ address, cluster }) => ({ targets: [address], labels: { cluster } })),
          },
        ],
      }),
    );
    const flags = [
      '--enable-feature=exemplar-storage',
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ];
    const child = spawn(program, [...flags, '--log.level=error'], { stdio: ['ignore', 'ignore', 'inherit'] });
    const started = new PrometheusServer(child, url);
    const begin = performance.now();
    while ((await fetch(`${url}/-/ready`).catch(() => undefined))?.status !== 200) {
      if (child.exitCode !== null || performance.now() - begin > READY_MAX_MS) {
        await started[Symbol.asyncDispose]();
        throw new Error('prometheus does not start');
      }
      await pause(50);
    }
    return started;
  }

  async query(expr: string): Promise<readonly Sample[]> {
    const answer = await fetch(`${this.#url}/api/v1/query`, {
      method: 'POST',
      body: new URLSearchParams({ query: expr }),
    });
    const { status, error, data } = (await answer.json()) as {
      readonly status: string;
      readonly error?: string;
      readonly data?: { readonly result: readonly Sample[] };
    };
    if (status !== 'success' || data === undefined) throw new Error(`${expr}: ${error}`);
    return data.result;
  }

  /** The traces that exemplars of these series name. */
  async tracesOf(series: string): Promise<readonly string[]> {
    const nowSeconds = Date.now() / 1000;
    const range = { query: series, start: String(nowSeconds - 600), end: String(nowSeconds) };
    const answer = await fetch(`${this.#url}/api/v1/query_exemplars`, {
      method: 'POST',
      body: new URLSearchParams(range),
    });
    const { data = [] } = (await answer.json()) as {
      readonly data?: readonly { readonly exemplars: readonly { readonly labels: { readonly trace_id: string } }[] }[];
    };
    return data.flatMap(({ exemplars }) => exemplars.map(({ labels }) => labels.trace_id));
  }

  async scrapes(): Promise<number> {
    return Number((await this.query('count_over_time(up[5m])'))[0]?.value[1] ?? 0);
  }

  async until(expr: string): Promise<void> {
    const begin = performance.now();
    while ((await this.query(expr)).length === 0) {
      if (performance.now() - begin > READY_MAX_MS) throw new Error(`never: ${expr}`);
      await pause(200);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await ended;
  }
}
