import { execFile, execFileSync, type ExecFileSyncOptions } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { Pd, type PdRegion } from './pd.ts';

const here = import.meta.dirname;
const run = promisify(execFile);
const STARTS_MAX = 5;

/** Finds free consecutive ports: PD members are 10 ports apart, stores have consecutive ports. */
async function freePorts(count: number): Promise<number> {
  const isFree = (port: number): Promise<boolean> =>
    new Promise((resolve) => {
      const server = createServer();
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
    });
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const first = 15_000 + Math.floor(Math.random() * 15_000);
    const free = await Promise.all(Array.from({ length: count }, (_, at) => isFree(first + at)));
    if (free.every(Boolean)) return first;
  }
  throw new Error(`no ${count} free ports in a row`);
}

export interface LabOptions {
  readonly stores?: number;
  readonly pds?: number;
  /** `raft`: several stores that replicate. `onenode`: the newer store without Raft, always a single one. */
  readonly store?: 'raft' | 'onenode';
  /** Bytes of a memory table of the Raft store, 16 MiB by default. With small ones it reads from tables all the time. */
  readonly memTable?: number;
  /** Whether clients connect through the strict proxy. True if absent. */
  readonly strict?: boolean;
  /** The number of level-0 tables at which the Raft store makes writers wait for compactions. 8 by default. */
  readonly levelZeroStall?: number;
  /** Where the lab runs. On this host at 127.0.0.1 if absent. */
  readonly place?: LabPlace;
}

/** A network namespace, as a path, and the lab's address in it. */
export interface LabPlace {
  readonly netns: string;
  readonly address: string;
}

/** A command that runs in a network namespace. `nsenter` execs it, so it has the pid of the spawned process. */
export const inNetns = (netns: string, command: readonly string[]): readonly string[] => [
  'nsenter',
  `--net=${netns}`,
  ...command,
];

/** The processes of one lab. They are signalled by pid, never by name. */
export class Lab implements AsyncDisposable {
  readonly dir: string;
  readonly pdPort: number;
  readonly storePort: number;
  readonly stores: number;
  readonly pds: number;
  readonly #place: LabPlace | undefined;
  readonly #pd = new Pd(() => this.pdDirect);
  /** What the stores are started with, the first time and again. */
  #env: NodeJS.ProcessEnv = process.env;

  private constructor(
    dir: string,
    ports: { pd: number; store: number },
    stores: number,
    pds: number,
    place: LabPlace | undefined,
  ) {
    this.dir = resolve(dir);
    this.pdPort = ports.pd;
    this.storePort = ports.store;
    this.stores = stores;
    this.pds = pds;
    this.#place = place;
  }

  static async start(dir: string, options: LabOptions = {}): Promise<Lab> {
    const first = await freePorts(60);
    const oneNode = options.store === 'onenode';
    const stores = oneNode ? 1 : (options.stores ?? 3);
    const lab = new Lab(dir, { pd: first, store: first + 50 }, stores, options.pds ?? 1, options.place);
    const env = {
      ...process.env,
      PD_PORT: String(lab.pdPort),
      STORE_PORT: String(lab.storePort),
      STORE: oneNode ? 'tidbstore-lab' : 'unistore-lab',
      STRICT: options.strict === false || process.env['STRICT'] === '0' ? '0' : '1',
      ...(options.memTable === undefined ? {} : { STORE_MEM_TABLE: String(options.memTable) }),
      ...(options.levelZeroStall === undefined ? {} : { STORE_L0_STALL: String(options.levelZeroStall) }),
    };
    lab.#env = env;
    // The lab ends with its program, unless that is killed with SIGKILL. Then its folder still has the pids.
    process.once('SIGINT', () => process.exit(130));
    process.once('SIGTERM', () => process.exit(143));
    // Before what else runs at the exit: whoever made the folder may remove it, and the pids with it.
    process.prependOnceListener('exit', () => lab.#down());
    lab.#runInPlace('up', [lab.dir, String(lab.stores), String(lab.pds)], { env, stdio: 'inherit' });
    return lab;
  }

  /**
   * Starts a lab whose regions have a copy on every store. If the copies never come, as with the stores before they
   * were corrected (README.md), the client is not at fault: the lab is started anew, and the state of PD and the stores
   * is printed.
   */
  static async startReplicated(dir: string, options: LabOptions = {}): Promise<Lab> {
    for (let attempt = 1; ; attempt += 1) {
      const lab = await Lab.start(join(dir, String(attempt)), options);
      try {
        await lab.#pd.replicated(lab.stores);
        return lab;
      } catch (error) {
        const stores = lab.#lastWords();
        await lab[Symbol.asyncDispose]();
        if (attempt === STARTS_MAX) throw error;
        console.log(`the lab is started anew: ${String(error)}\n${stores}`);
      }
    }
  }

  #runInPlace(script: string, args: readonly string[], options: ExecFileSyncOptions): void {
    const command = [join(here, 'lab', script), ...args];
    const [program, ...rest] = this.#place === undefined ? command : inNetns(this.#place.netns, command);
    const env = { ...(options.env ?? process.env), ...(this.#place && { LAB_HOST: this.#place.address }) };
    execFileSync(program!, rest, { ...options, env });
  }

  #down(): void {
    execFileSync(join(here, 'lab/down'), [this.dir]);
  }

  /** The PD addresses for this project's clients: the strict proxy, if there is one. */
  get pdAddresses(): readonly string[] {
    return readFileSync(join(this.dir, 'pd'), 'utf8').split(',');
  }

  /** PD's own addresses: for stores, for its HTTP interface, and for other clients. */
  get pdDirect(): readonly string[] {
    return readFileSync(join(this.dir, 'pd-direct'), 'utf8').split(',');
  }

  /** What the strict proxy refused when it ended itself. */
  get refusal(): string | undefined {
    const file = join(this.dir, 'refusal');
    if (existsSync(file)) return readFileSync(file, 'utf8');
    return existsSync(join(this.dir, 'strict.pid')) && !this.#lives('strict') ? 'the strict proxy is gone' : undefined;
  }

  pid(name: string): number {
    return Number(readFileSync(join(this.dir, `${name}.pid`), 'utf8'));
  }

  signal(name: string, signal: NodeJS.Signals): void {
    process.kill(this.pid(name), signal);
  }

  restartStore(id: number): void {
    this.#runInPlace('start-store', [join(here, 'bin'), String(id), this.pdDirect.join(','), String(this.storePort)], {
      cwd: this.dir,
      env: this.#env,
      stdio: 'ignore',
    });
  }

  restartPd(id: number): void {
    const initial = Array.from(
      { length: this.pds },
      (_, at) => `pd${at + 1}=http://${this.#place?.address ?? '127.0.0.1'}:${this.pdPort + (at + 1) * 10 + 1}`,
    ).join(',');
    this.#runInPlace('start-pd', [join(here, 'bin'), String(id), String(this.pdPort), initial], {
      cwd: this.dir,
      stdio: 'ignore',
    });
  }

  /** Sets whether a store refuses requests that would add data, as one with a full disk does. */
  setDiskFull(process: number, full: boolean): void {
    const mark = join(this.dir, `s${process}`, 'disk-full');
    if (full) writeFileSync(mark, '');
    else rmSync(mark);
  }

  /** Memory of each process in MiB, without the page cache. */
  memoryMib(): Readonly<Record<string, number>> {
    const found: Record<string, number> = {};
    for (const file of readdirSync(this.dir).filter((name) => name.endsWith('.pid'))) {
      try {
        const pid = readFileSync(join(this.dir, file), 'utf8').trim();
        const own = /RssAnon:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
        if (own !== undefined) found[file.replace('.pid', '')] = Math.round(Number(own) / 1_024);
      } catch {
        // killed meanwhile
      }
    }
    return found;
  }

  /** Whether each store lives, and the end of its output. */
  #lastWords(): string {
    const words = Array.from({ length: this.stores }, (_, at) => {
      const name = `s${at + 1}`;
      const lines = readFileSync(join(this.dir, `${name}.out`), 'utf8')
        .trimEnd()
        .split('\n');
      return `${name}, ${this.#lives(name) ? 'alive' : 'dead'}:\n${lines
        .slice(-8)
        .map((line) => `  ${line.slice(0, 400)}`)
        .join('\n')}`;
    });
    return words.join('\n');
  }

  #lives(name: string): boolean {
    try {
      process.kill(this.pid(name), 0);
      return true;
    } catch {
      return false;
    }
  }

  regions(): Promise<readonly PdRegion[]> {
    return this.#pd.regions();
  }

  /** Asks PD to give the lead of a region to another store. PD may refuse. */
  transferLeader(region: PdRegion, store: number): Promise<void> {
    return this.#pd.transferLeader(region, store);
  }

  /** The store that leads most regions now. */
  busiestStore(): Promise<number> {
    return this.#pd.busiestStore();
  }

  /** The number of a store's process. PD's ids are in the order of starting, but are not these numbers. */
  async processOf(storeId: number): Promise<number> {
    return Number((await this.#pd.addressOf(storeId)).split(':')[1]) - this.storePort;
  }

  async pdLeader(): Promise<number> {
    return Number((await this.#pd.leaderName()).slice(2));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#down();
  }
}

/** client-go's answers, one for each line. */
export async function clientGo(pd: string, ...args: readonly string[]): Promise<readonly unknown[]> {
  const binary = join(here, 'bin/clientlab');
  if (!existsSync(binary)) throw new Error('e2e/tikv/lab/build makes what is missing');
  const { stdout } = await run(binary, [pd, ...args], { maxBuffer: 64 << 20 });
  // Its dependencies log to stdout too. The answers are the lines of JSON.
  return stdout
    .split('\n')
    .filter((line) => line.startsWith('{') || line.startsWith('["'))
    .map((line) => JSON.parse(line) as unknown);
}
