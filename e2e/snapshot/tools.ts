import { execFile } from 'node:child_process';
import { parseArgs, promisify } from 'node:util';

const execute = promisify(execFile);
const TOOL_MAX_MS = 120_000;

export interface SnapshotStatus {
  readonly hash: number;
  readonly revision: number;
  readonly totalKey: number;
  readonly totalSize: number;
  readonly version: string;
}

export interface JudgeArguments {
  readonly folder: string;
  /** Path of the server. */
  readonly etcd: string;
  readonly tools: EtcdTools;
  readonly seed: number;
}

/** The arguments of a judge that compares with a real etcd: `<folder> <etcd> <etcdctl> <etcdutl> [--seed N]`. */
export function judgeArguments(): JudgeArguments {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { seed: { type: 'string', default: String(Date.now() % 2 ** 32) } },
  });
  const [folder = '.', etcd = 'etcd', etcdctl = 'etcdctl', etcdutl = 'etcdutl'] = positionals;
  return { folder, etcd, tools: new EtcdTools(etcdctl, etcdutl), seed: Number(values.seed) };
}

/** etcd's command line tools. If one fails, its output is in the error. */
export class EtcdTools {
  readonly #etcdctl: string;
  readonly #etcdutl: string;

  constructor(etcdctl: string, etcdutl: string) {
    this.#etcdctl = etcdctl;
    this.#etcdutl = etcdutl;
  }

  async save(endpoint: string, file: string): Promise<void> {
    await run(this.#etcdctl, [`--endpoints=${endpoint}`, 'snapshot', 'save', file]);
  }

  /** Any command of etcdctl. */
  async control(endpoint: string, args: readonly string[]): Promise<void> {
    await run(this.#etcdctl, [`--endpoints=${endpoint}`, ...args]);
  }

  async defragment(endpoint: string): Promise<void> {
    await run(this.#etcdctl, [`--endpoints=${endpoint}`, 'defrag']);
  }

  /** Reads every page of the file. Rejects if it is not a valid database. */
  async status(file: string): Promise<SnapshotStatus> {
    const status: unknown = JSON.parse(await run(this.#etcdutl, ['snapshot', 'status', file, '--write-out=json']));
    if (!isStatus(status)) throw new Error(`no status of a snapshot: ${JSON.stringify(status)}`);
    return status;
  }

  /** `peer` is the peer URL with which the only member will be started. */
  async restore(file: string, dataDir: string, peer: string, flags: readonly string[] = []): Promise<void> {
    await run(this.#etcdutl, [
      'snapshot',
      'restore',
      file,
      '--name=default',
      `--data-dir=${dataDir}`,
      `--initial-cluster=default=${peer}`,
      `--initial-advertise-peer-urls=${peer}`,
      ...flags,
    ]);
  }
}

async function run(program: string, args: readonly string[]): Promise<string> {
  const { stdout } = await execute(program, args, { timeout: TOOL_MAX_MS, killSignal: 'SIGKILL' });
  return stdout;
}

function isStatus(value: unknown): value is SnapshotStatus {
  if (typeof value !== 'object' || value === null) return false;
  const fields: Record<string, unknown> = { ...value };
  const numbers = ['hash', 'revision', 'totalKey', 'totalSize'].every((name) => typeof fields[name] === 'number');
  return numbers && typeof fields['version'] === 'string';
}
