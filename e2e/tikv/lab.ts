import { execFile, execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const here = import.meta.dirname;
const run = promisify(execFile);

/** The processes of one lab, each known by its id, none touched by name. */
export class Lab implements AsyncDisposable {
  readonly dir: string;
  readonly pdPort: number;
  readonly storePort: number;
  readonly stores: number;
  readonly pds: number;

  private constructor(dir: string, ports: { pd: number; store: number }, stores: number, pds: number) {
    this.dir = resolve(dir);
    this.pdPort = ports.pd;
    this.storePort = ports.store;
    this.stores = stores;
    this.pds = pds;
  }

  static async start(
    dir: string,
    options: { stores?: number; pds?: number; pdPort?: number; storePort?: number } = {},
  ): Promise<Lab> {
    const lab = new Lab(
      dir,
      { pd: options.pdPort ?? 24_790, store: options.storePort ?? 24_170 },
      options.stores ?? 3,
      options.pds ?? 1,
    );
    const env = { ...process.env, PD_PORT: String(lab.pdPort), STORE_PORT: String(lab.storePort) };
    execFileSync(join(here, 'lab/up'), [lab.dir, String(lab.stores), String(lab.pds)], { env, stdio: 'inherit' });
    return lab;
  }

  get pdAddresses(): readonly string[] {
    return readFileSync(join(this.dir, 'pd'), 'utf8').split(',');
  }

  pid(name: string): number {
    return Number(readFileSync(join(this.dir, `${name}.pid`), 'utf8'));
  }

  signal(name: string, signal: NodeJS.Signals): void {
    process.kill(this.pid(name), signal);
  }

  restartStore(id: number): void {
    execFileSync(
      join(here, 'lab/start-store'),
      [join(here, 'bin'), String(id), this.pdAddresses.join(','), String(this.storePort)],
      { cwd: this.dir, stdio: 'ignore' },
    );
  }

  restartPd(id: number): void {
    const initial = Array.from(
      { length: this.pds },
      (_, at) => `pd${at + 1}=http://127.0.0.1:${this.pdPort + (at + 1) * 10 + 1}`,
    ).join(',');
    execFileSync(join(here, 'lab/start-pd'), [join(here, 'bin'), String(id), String(this.pdPort), initial], {
      cwd: this.dir,
      stdio: 'ignore',
    });
  }

  /** PD's own HTTP interface, at whichever member answers; asked for half a minute, because members are killed meanwhile. */
  async pdHttp(path: string, body?: unknown): Promise<unknown> {
    let last: unknown;
    for (const endMs = performance.now() + 30_000; performance.now() < endMs; await sleep(500)) {
      for (const address of this.pdAddresses) {
        try {
          const answer = await fetch(`http://${address}/pd/api/v1/${path}`, {
            signal: AbortSignal.timeout(2_000),
            ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
          });
          const text = await answer.text();
          if (answer.ok) return text === '' ? undefined : (JSON.parse(text) as unknown);
          if (body !== undefined) return text; // PD does not want the operator
          last = new Error(text);
        } catch (error) {
          last = error;
        }
      }
    }
    throw last;
  }

  /** Waits until every region has a copy on every store. */
  async replicated(): Promise<void> {
    for (let second = 0; second < 60; second += 1) {
      const answer = (await this.pdHttp('regions')) as {
        regions?: { peers: unknown[]; leader?: { store_id?: number } }[];
      };
      const regions = answer.regions ?? [];
      if (
        regions.length > 0 &&
        regions.every(({ peers, leader }) => peers.length === this.stores && leader?.store_id !== undefined)
      )
        return;
      await sleep(1_000);
    }
    throw new Error('the regions were not replicated within a minute');
  }

  /** The store that leads most regions now. */
  async busiestStore(): Promise<number> {
    const { regions } = (await this.pdHttp('regions')) as { regions: { leader?: { store_id?: number } }[] };
    const counts = new Map<number, number>();
    for (const { leader } of regions)
      if (leader?.store_id !== undefined) counts.set(leader.store_id, (counts.get(leader.store_id) ?? 0) + 1);
    return [...counts].sort((left, right) => right[1] - left[1])[0]![0];
  }

  /** The number of a store's process: ids of PD come in the order of starting, but are not those numbers. */
  async processOf(storeId: number): Promise<number> {
    const { stores } = (await this.pdHttp('stores')) as { stores: { store: { id: number; address: string } }[] };
    const found = stores.find(({ store }) => store.id === storeId);
    return Number(found!.store.address.split(':')[1]) - this.storePort;
  }

  async pdLeader(): Promise<number> {
    const { name } = (await this.pdHttp('leader')) as { name: string };
    return Number(name.slice(2));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    execFileSync(join(here, 'lab/down'), [this.dir]);
  }
}

/** client-go's answers, line by line. */
export async function clientGo(pd: string, ...args: readonly string[]): Promise<readonly unknown[]> {
  const binary = join(here, 'bin/clientlab');
  if (!existsSync(binary)) throw new Error('e2e/tikv/lab/build makes what is missing');
  const { stdout } = await run(binary, [pd, ...args], { maxBuffer: 64 << 20 });
  // Its dependencies log to stdout too; ours are the lines of JSON.
  return stdout
    .split('\n')
    .filter((line) => line.startsWith('{') || line.startsWith('["'))
    .map((line) => JSON.parse(line) as unknown);
}
