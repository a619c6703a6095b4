import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { bounded } from '../../test/support/bounded.ts';
import type { StorePlace } from '../../test/support/store-process.ts';

/** What a process did to the files below its data directory. Times are in milliseconds since 1970. */
export type Change =
  | { readonly kind: 'open'; readonly path: string; readonly truncates: boolean }
  | {
      readonly kind: 'write';
      readonly path: string;
      readonly offset: number;
      readonly bytes: Buffer;
      readonly durable: boolean;
    }
  | { readonly kind: 'truncate'; readonly path: string; readonly length: number }
  | { readonly kind: 'sync'; readonly path: string }
  | { readonly kind: 'rename'; readonly path: string; readonly to: string }
  | { readonly kind: 'remove'; readonly path: string }
  | { readonly kind: 'make-directory'; readonly path: string };

export type Recorded = Change & { readonly startMs: number; readonly endMs: number };

const READY_LINE = 'ready to serve client requests';
const START_MAX_MS = 60_000;
const STOP_MAX_MS = 30_000;
const MAIN = join(import.meta.dirname, '../../packages/server/src/main.ts');
/** Calls that change files or names, or make changes durable. Those that this part cannot replay are refused. */
const REPLAYED =
  'openat,close,write,pwrite64,writev,pwritev,ftruncate,fsync,fdatasync,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,rmdir';
const REFUSED = 'open,creat,pwritev2,truncate,fallocate,sync_file_range,link,linkat,symlink,symlinkat,copy_file_range';

/** One life of a node under strace. */
export class RecordedNode {
  readonly endpoint: string;
  readonly #folder: string;
  readonly #dataDir: string;
  readonly #child: ChildProcess;
  readonly #lines: string[] = [];
  readonly #ended: Promise<void>;
  readonly #ready: Promise<void>;

  private constructor(place: StorePlace, folder: string, flags: readonly string[]) {
    this.endpoint = `127.0.0.1:${place.clientPort}`;
    this.#folder = folder;
    this.#dataDir = place.dataDir;
    const client = `http://127.0.0.1:${place.clientPort}`;
    const strace = ['-ff', '-ttt', '-T', '-y', '-xx', '-s', '16777216', '--seccomp-bpf', '-e', 'signal=none'];
    const node = [process.execPath, MAIN, `--data-dir=${place.dataDir}`, `--listen-client-urls=${client}`];
    this.#child = spawn(
      'strace',
      [
        ...strace,
        '-f',
        '-e',
        `trace=${REPLAYED},${REFUSED}`,
        '-o',
        join(folder, 'calls'),
        ...node,
        `--advertise-client-urls=${client}`,
        `--listen-peer-urls=http://127.0.0.1:${place.peerPort}`,
        ...flags,
      ],
      { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, UV_USE_IO_URING: '0' }, detached: true },
    );
    // It has a group of its own, which no signal for this process reaches.
    process.once('exit', () => this.#kill());
    this.#ended = new Promise((resolve) => {
      this.#child.once('error', (error) => {
        this.#lines.push(error.message);
        resolve();
      });
      this.#child.once('exit', () => resolve());
    });
    this.#ready = new Promise((resolve, reject) => {
      for (const stream of [this.#child.stdout, this.#child.stderr]) {
        if (stream === null) continue;
        createInterface({ input: stream }).on('line', (line) => {
          this.#lines.push(line.slice(0, 500));
          if (line.includes(READY_LINE)) resolve();
        });
      }
      void this.#ended.then(() =>
        reject(new Error(`the node ended before it served:\n${this.#lines.slice(-20).join('\n')}`)),
      );
    });
    this.#ready.catch(() => {});
  }

  /** `folder` must be empty: it gets the recording. */
  static async start(place: StorePlace, folder: string, flags: readonly string[] = []): Promise<RecordedNode> {
    const node = new RecordedNode(place, folder, flags);
    try {
      await bounded('the start of the recorded node', START_MAX_MS, node.#ready);
    } catch (error) {
      await node.end('SIGKILL');
      throw error;
    }
    return node;
  }

  /** Ends the process, and returns what it did, in the order in which the calls ended. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<readonly Recorded[]> {
    if (signal === 'SIGTERM' && this.#running) this.#signalNode('SIGTERM');
    else this.#kill();
    await bounded('the end of the recorded node', STOP_MAX_MS, this.#ended);
    return parseRecording(this.#folder, this.#dataDir);
  }

  get #running(): boolean {
    return this.#child.pid !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** The group: the node, and strace. */
  #kill(): void {
    if (this.#running) process.kill(-this.#child.pid!, 'SIGKILL');
  }

  /** strace holds signals back from itself, and the node is its only child. */
  #signalNode(signal: NodeJS.Signals): void {
    const pid = this.#child.pid!;
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
    for (const child of children) if (child !== '') process.kill(Number(child), signal);
  }
}

const LINE = /^(\d+\.\d+) ([a-z0-9_]+)\((.*)\) += (-?\d+)(?:<[^>]*>)?(?: [A-Z]+ \(.*\))?(?: <(\d+\.\d+)>)?$/s;
const STRING = /"((?:\\x[0-9a-f]{2})*)"(\.\.\.)?/g;

interface OpenFile {
  readonly path: string;
  readonly durable: boolean;
  /** When the call that opened it ended. */
  readonly openMs: number;
  position: number;
}

interface Call {
  readonly name: string;
  readonly args: string;
  readonly result: number;
  readonly startMs: number;
  readonly endMs: number;
}

/** All changes below the directory. Throws if a call cannot be replayed: the model would not know what it did. */
export function parseRecording(folder: string, dataDir: string): readonly Recorded[] {
  const calls = readdirSync(folder).flatMap((name) => parseCalls(readFileSync(join(folder, name), 'latin1')));
  calls.sort((left, right) => left.endMs - right.endMs || left.startMs - right.startMs);
  const files = new Map<number, OpenFile>();
  const isOurs = (path: string): boolean => path === dataDir || path.startsWith(`${dataDir}/`);
  // The names of new directories lie above the data directory, and are synced there.
  const isAbove = (path: string): boolean => dataDir.startsWith(path === '/' ? '/' : `${path}/`);
  const recorded: Recorded[] = [];
  for (const { name, args, result, startMs, endMs } of calls) {
    const strings = [...args.matchAll(STRING)].map(([, hex, cut]) => {
      if (cut !== undefined) throw new Error(`a string of ${name} was cut off in the recording`);
      return unhex(hex!);
    });
    const add = (change: Change): void => void recorded.push({ ...change, startMs, endMs });
    const path = strings[0]?.toString() ?? '';
    const fd = Number.parseInt(args, 10);
    const file = files.get(fd);
    switch (name) {
      case 'openat': {
        if (result < 0 || !(isOurs(path) || isAbove(path))) break;
        const durable = /O_DSYNC|O_SYNC/.test(args);
        files.set(result, { path, durable, openMs: endMs, position: 0 });
        if (/O_CREAT/.test(args)) add({ kind: 'open', path, truncates: /O_TRUNC/.test(args) });
        break;
      }
      case 'close':
        // Another thread may get the number before strace has seen the end of the call that has released it.
        if (file !== undefined && file.openMs < startMs) files.delete(fd);
        break;
      case 'write':
      case 'writev':
      case 'pwrite64':
      case 'pwritev': {
        if (file === undefined || result <= 0) break;
        const bytes = Buffer.concat(strings).subarray(0, result);
        const positioned = name.startsWith('p');
        const offset = positioned ? Number(args.slice(args.lastIndexOf(',') + 1)) : file.position;
        if (!positioned) file.position += result;
        add({ kind: 'write', path: file.path, offset, bytes, durable: file.durable });
        break;
      }
      case 'ftruncate':
        if (file !== undefined && result === 0)
          add({ kind: 'truncate', path: file.path, length: Number(args.slice(args.lastIndexOf(',') + 1)) });
        break;
      case 'fsync':
      case 'fdatasync':
        if (file !== undefined && result === 0) add({ kind: 'sync', path: file.path });
        break;
      case 'rename':
      case 'renameat':
      case 'renameat2':
        if (result !== 0 || !isOurs(path)) break;
        add({ kind: 'rename', path, to: strings[1]!.toString() });
        for (const [held, open] of files)
          if (open.path === path || open.path.startsWith(`${path}/`))
            files.set(held, { ...open, path: strings[1]!.toString() + open.path.slice(path.length) });
        break;
      case 'unlink':
      case 'unlinkat':
      case 'rmdir':
        if (result === 0 && isOurs(path)) add({ kind: 'remove', path });
        break;
      case 'mkdir':
      case 'mkdirat':
        if (result === 0 && isOurs(path)) add({ kind: 'make-directory', path });
        break;
      default:
        if (strings.some((text) => isOurs(text.toString())) || file !== undefined)
          throw new Error(`the node called ${name}, which this part cannot replay`);
    }
  }
  return recorded;
}

function parseCalls(text: string): Call[] {
  const calls: Call[] = [];
  for (const line of text.split('\n')) {
    // A call that did not end, and the end of a thread, say nothing that lasts.
    const match = LINE.exec(line);
    if (match === null) continue;
    const [, at, name, args, result, took] = match;
    const startMs = Number(at) * 1000;
    calls.push({
      name: name!,
      args: args!,
      result: Number(result),
      startMs,
      endMs: startMs + Number(took ?? 0) * 1000,
    });
  }
  return calls;
}

function unhex(text: string): Buffer {
  return Buffer.from(text.replaceAll('\\x', ''), 'hex');
}
