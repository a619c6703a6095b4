import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { FrameReader, FrameType } from '@engram/http2';
import { Prng } from '@engram/sim';
import { EtcdClient } from '../../test/support/etcd-client.ts';
import type { StoreProcess } from '../../test/support/store-process.ts';
import { stillHeld } from '../support/nothing-held.ts';
import type { Finding, Kept } from './finding.ts';
import { http2Script } from './http2-script.ts';
import { mutated } from './mutate.ts';
import { clientHellos, http1Script, tlsScript } from './other-scripts.ts';
import { longestStretches, Usage } from './usage.ts';

/** The kinds of connection. `h2-tls` and `h1-tls` begin with a complete TLS handshake. */
const kinds = ['h2', 'h1', 'tls', 'h2-tls', 'h1-tls'] as const;
type Kind = (typeof kinds)[number];
const isKind = (name: string): name is Kind => kinds.some((kind) => kind === name);

interface Script {
  readonly kind: Kind;
  readonly chunks: readonly Buffer[];
  /** The client does not read the answers. */
  readonly deaf: boolean;
}

export interface NodeLimits {
  /** The node's own limit on its memory. */
  readonly memoryMaxBytes: number;
  /** The CPU time for one script, besides the cost of its bytes. */
  readonly scriptMsMax: number;
  /** The longest time of a put on a separate connection, besides the time without a core. */
  readonly answerMsMax: number;
  /** The longest stretch of CPU time on the event loop, as the node reports it. */
  readonly stretchMsMax: number;
}

export interface NodeReport {
  readonly scripts: number;
  /** The number of different outcomes seen. */
  readonly outcomes: number;
  readonly worstAnswerMs: number;
  readonly stretches: readonly string[];
  readonly findings: readonly Finding[];
}

const BATCH = 16;
const KEPT_MAX = 500;
const QUIET_MS = 40;
const SCRIPT_MAX_MS = 2_000;
const NS_PER_BYTE_MAX = 5_000;
const READ_MAX_BYTES = 1024 * 1024;

type Fuzzing = [
  store: StoreProcess,
  securePort: number,
  seed: number,
  endMs: number,
  saved: readonly Kept[],
  limits: NodeLimits,
];

/** Runs scripts against a real process until `endMs`. Scripts with a new outcome are kept and mutated. */
export const fuzzNode = (...how: Fuzzing): Promise<NodeReport> => run('more', ...how);

/** Replays the saved scripts until `endMs`: sixteen at a time and each alone, read and unread. */
export const replayOnNode = (...how: Fuzzing): Promise<NodeReport> => run('saved', ...how);

async function run(
  what: 'more' | 'saved',
  ...[store, securePort, seed, endMs, saved, limits]: Fuzzing
): Promise<NodeReport> {
  const random = new Prng(seed).fork('node');
  const hellos = await clientHellos();
  const usage = new Usage(store.pid);
  const findings: Finding[] = [];
  const outcomes = new Set<string>();
  const kept: Script[] = [];
  let [scripts, worstAnswerMs] = [0, 0];
  const ports = { plain: store.place.clientPort, secure: securePort };
  using prober = new EtcdClient(store.endpoint, { deadlineMs: 10 * limits.answerMsMax });

  const make = (): Script => {
    const deaf = random.chance(0.1);
    if (kept.length > 0 && random.chance(0.4)) {
      const { kind, chunks } = random.pick(kept);
      const at = random.below(chunks.length);
      return {
        kind,
        deaf,
        chunks: chunks.map((chunk, index) => (index === at ? mutated(random, chunk, chunks) : chunk)),
      };
    }
    const kind = random.pick(['h2', 'h2', 'h2', 'h2', 'h1', 'tls', 'h2-tls', 'h1-tls'] as const);
    if (kind === 'tls') return { kind, deaf, chunks: tlsScript(random, hellos) };
    return { kind, deaf, chunks: kind.startsWith('h2') ? http2Script(random) : http1Script(random) };
  };
  const note = (what: string, { kind, chunks }: Script): void => void findings.push({ target: kind, what, chunks });

  const runBatch = async (batch: readonly Script[]): Promise<void> => {
    const cpuBefore = usage.cpuMs();
    const runs = batch.map((script) => play(script, ports));
    const [startMs, waitedBeforeMs] = [performance.now(), usage.waitedMs()];
    const answered = await prober.put({ key: Buffer.from('probe'), value: Buffer.from('v') }).then(
      () => true,
      // A refusal is an answer.
      (error: unknown) => !String(error).includes('DEADLINE') && !String(error).includes('UNAVAILABLE'),
    );
    const answerMs = performance.now() - startMs - (usage.waitedMs() - waitedBeforeMs);
    worstAnswerMs = Math.max(worstAnswerMs, answerMs);
    const said = await Promise.all(runs);
    scripts += batch.length;
    if (!store.running || !answered || answerMs > limits.answerMsMax) {
      const what = store.running
        ? `a put took ${Math.round(answerMs)} ms`
        : `the node ended: ${store.output.slice(-2_000)}`;
      for (const script of batch) note(`${what} (one of ${batch.length})`, script);
      return;
    }
    for (const [at, outcome] of said.entries()) {
      if (outcomes.has(outcome)) continue;
      outcomes.add(outcome);
      if (kept.length < KEPT_MAX) kept.push(batch[at]!);
    }
    const costMs = usage.cpuMs() - cpuBefore;
    if (costMs > allowedMs(batch, limits)) await blame(batch);
    const bytes = usage.residentBytes();
    if (bytes > limits.memoryMaxBytes) {
      for (const script of batch) note(`${Math.round(bytes / 2 ** 20)} MiB of memory (one of ${batch.length})`, script);
    }
  };
  /** Finds the script that used the CPU: runs each alone, and up to three times to be sure. */
  const blame = async (batch: readonly Script[]): Promise<void> => {
    for (const script of batch) {
      let leastMs = Number.POSITIVE_INFINITY;
      for (let run = 0; run < 3 && leastMs > allowedMs([script], limits); run += 1) {
        const before = usage.cpuMs();
        await play(script, ports);
        leastMs = Math.min(leastMs, usage.cpuMs() - before);
      }
      if (leastMs > allowedMs([script], limits)) note(`${Math.round(leastMs)} ms of CPU`, script);
    }
  };

  const first = saved.flatMap(({ target, chunks }) => (isKind(target) ? [{ kind: target, chunks, deaf: false }] : []));
  const goesOn = (): boolean => performance.now() < endMs && store.running && findings.length < BATCH;
  do {
    for (let at = 0; at < first.length; at += BATCH) await runBatch(first.slice(at, at + BATCH));
    if (what === 'saved') {
      const unread = first.map((script) => ({ ...script, deaf: true }));
      for (const script of [...first, ...unread]) await runBatch([script]);
      for (let at = 0; at < unread.length; at += BATCH) await runBatch(unread.slice(at, at + BATCH));
    }
  } while (what === 'saved' && goesOn());
  while (goesOn()) await runBatch(Array.from({ length: BATCH }, make));
  const held = store.running ? await stillHeld(store.endpoint) : [];
  if (held.length > 0)
    findings.push({ target: 'held', what: `for calls that have ended: ${held.join(', ')}`, chunks: [] });
  const stretches = store.running ? await longestStretches(ports.plain) : [];
  const long = stretches.filter(({ ms }) => ms > limits.stretchMsMax);
  for (const { by, ms } of long)
    findings.push({ target: 'loop', what: `${by} kept the event loop for ${ms} ms`, chunks: [] });
  return {
    scripts,
    outcomes: outcomes.size,
    worstAnswerMs,
    stretches: stretches.map(({ by, ms }) => `${ms} ms ${by}`),
    findings,
  };
}

function allowedMs(batch: readonly Script[], { scriptMsMax }: NodeLimits): number {
  const bytes = batch.reduce((sum, { chunks }) => sum + chunks.reduce((all, { length }) => all + length, 0), 0);
  return scriptMsMax + (NS_PER_BYTE_MAX * bytes) / 1e6;
}

/** Sends the script, reads until no more bytes come, and summarizes the answer. */
async function play(script: Script, ports: { readonly plain: number; readonly secure: number }): Promise<string> {
  const socket = await dial(script, ports);
  if (socket === undefined) return `${script.kind} no handshake`;
  const heard: Buffer[] = [];
  let [bytes, lastMs, closed] = [0, performance.now(), false];
  socket.on('error', () => {});
  socket.once('close', () => {
    closed = true;
  });
  if (script.deaf) socket.pause();
  else {
    socket.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      lastMs = performance.now();
      if (bytes <= READ_MAX_BYTES) heard.push(chunk);
    });
  }
  for (const chunk of script.chunks) {
    if (closed) break;
    socket.write(chunk);
    await new Promise((resolve) => setImmediate(resolve));
  }
  const endMs = performance.now() + SCRIPT_MAX_MS;
  while (!closed && performance.now() < endMs && performance.now() - lastMs < QUIET_MS) await delay(10);
  socket.destroy();
  return `${script.kind} ${outcomeOf(script.kind, Buffer.concat(heard))}${closed ? ' closed' : ''}`;
}

async function dial(
  { kind }: Script,
  ports: { readonly plain: number; readonly secure: number },
): Promise<Socket | undefined> {
  const secure = kind.endsWith('-tls');
  const options: ConnectionOptions = {
    port: secure || kind === 'tls' ? ports.secure : ports.plain,
    host: '127.0.0.1',
    rejectUnauthorized: false,
    ...(kind === 'h2-tls' ? { ALPNProtocols: ['h2'] } : {}),
  };
  const socket = secure ? connectTls(options) : connect(Number(options.port), '127.0.0.1');
  return new Promise((resolve) => {
    socket.once(secure ? 'secureConnect' : 'connect', () => resolve(socket));
    socket.once('error', () => resolve(undefined));
  });
}

function outcomeOf(kind: Kind, heard: Buffer): string {
  if (kind === 'tls') return heard.subarray(0, 7).toString('hex');
  if (kind.startsWith('h1')) return [...new Set(heard.toString('latin1').match(/HTTP\/1\.1 \d{3}/g))].join();
  const reader = new FrameReader(2 ** 24 - 1);
  reader.push(heard);
  const frames = new Set<string>();
  try {
    while (reader.next()) {
      const { type, start, end, bytes } = reader;
      const code =
        type === FrameType.RST_STREAM
          ? bytes[end - 1]
          : type === FrameType.GOAWAY
            ? bytes.toString('latin1', start + 7, end)
            : '';
      frames.add(
        `${type}:${code}${type === FrameType.HEADERS ? bytes.subarray(start, end).toString('hex').slice(0, 40) : ''}`,
      );
    }
  } catch {
    frames.add('no frames');
  }
  return [...frames].sort().join();
}
