import { Agent, request } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiAccess, Manifest } from './kind-cluster.ts';

const ANSWER_MAX_MS = 10_000;
const RETRIED_MAX_MS = 90_000;
const AGAIN_MS = 50;
const CREATED = 201;
const CONFLICT = 409;

interface Answer {
  readonly status: number;
  readonly text: string;
}

/** How a container of a pod has ended. */
interface ContainerEnd {
  readonly exitCode: number;
  readonly reason?: string;
  readonly containerID?: string;
}

interface ContainerState {
  readonly terminated?: ContainerEnd;
}

/** An object as the API shows it. `status`: of a pod. */
export interface KubeObject {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly deletionTimestamp?: string;
  };
  readonly status?: {
    readonly containerStatuses?: readonly { readonly state?: ContainerState; readonly lastState?: ContainerState }[];
  };
}

/** A client of the Kubernetes API, one connection for each call that is under way. */
export class KubeApi {
  readonly #access: ApiAccess;
  readonly #agent: Agent;

  constructor(access: ApiAccess) {
    this.#access = access;
    this.#agent = new Agent({ keepAlive: true, ca: access.ca, cert: access.cert, key: access.key });
  }

  /** Creates an object, by as many attempts as it takes. Resolves when it is acknowledged, or there already by an attempt without an answer. */
  async create(path: string, manifest: Manifest): Promise<void> {
    let uncertain = false;
    for (const endMs = performance.now() + RETRIED_MAX_MS; ; await sleep(AGAIN_MS)) {
      const answer = await this.#call('POST', path, manifest).catch((error: unknown) => String(error));
      if (typeof answer !== 'string') {
        if (answer.status === CREATED || (answer.status === CONFLICT && uncertain)) return;
        if (answer.status < 500 && answer.status !== 429) throw new Error(`${path}: ${answer.status} ${answer.text}`);
      }
      uncertain = true;
      if (performance.now() > endMs) throw new Error(`${path}: ${JSON.stringify(answer)}`);
    }
  }

  async get(path: string): Promise<string> {
    const { status, text } = await this.#call('GET', path);
    if (status !== 200) throw new Error(`${path}: ${status} ${text}`);
    return text;
  }

  async list(path: string): Promise<{ readonly items: readonly KubeObject[]; readonly resourceVersion: string }> {
    type List = { readonly items: readonly KubeObject[]; readonly metadata: { readonly resourceVersion: string } };
    const { items, metadata } = JSON.parse(await this.get(path)) as List;
    return { items, resourceVersion: metadata.resourceVersion };
  }

  /** Sums a metric of the API server over its labels. */
  async metric(name: string): Promise<number> {
    const lines = (await this.get('/metrics')).split('\n').filter((line) => line.startsWith(`${name}{`));
    return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
  }

  /** When the process of the API server was started, in seconds since 1970. */
  async startedSeconds(): Promise<number> {
    return Number(/^process_start_time_seconds (\S+)$/m.exec(await this.get('/metrics'))?.[1]);
  }

  #call(method: string, path: string, body?: Manifest): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const signal = AbortSignal.timeout(ANSWER_MAX_MS);
    const headers = { 'content-type': 'application/json' };
    const call = request(`${this.#access.server}${path}`, { method, headers, agent: this.#agent, signal }, (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (chunk: string) => (text += chunk));
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }));
      answer.on('error', reject);
    });
    call.on('error', reject);
    call.end(body === undefined ? undefined : JSON.stringify(body));
    return promise;
  }

  /** Watches from a version on. Each event once, in order; an event that is an error ends the watch. */
  watch(path: string, resourceVersion: string, onEvent: (type: string, object: KubeObject) => void): AsyncDisposable {
    const stop = new AbortController();
    let from = resourceVersion;
    let failed = false;
    const take = (line: string): void => {
      const { type, object } = JSON.parse(line) as { readonly type: string; readonly object: KubeObject };
      if (type === 'ERROR') failed = true;
      else from = object.metadata.resourceVersion;
      onEvent(type, object);
    };
    const running = (async () => {
      while (!stop.signal.aborted && !failed) {
        await this.#lines(`${path}?watch=true&resourceVersion=${from}`, stop.signal, take).catch(() => undefined);
        await sleep(AGAIN_MS);
      }
    })();
    return {
      [Symbol.asyncDispose]: async () => {
        stop.abort();
        await running;
      },
    };
  }

  async #lines(path: string, signal: AbortSignal, take: (line: string) => void): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const call = request(`${this.#access.server}${path}`, { agent: this.#agent, signal }, (answer) => {
      // A server that is about to start refuses, and says why in other lines.
      if (answer.statusCode !== 200) {
        answer.resume();
        reject(new Error(`${path}: ${answer.statusCode}`));
        return;
      }
      let rest = '';
      answer.setEncoding('utf8');
      answer.on('data', (chunk: string) => {
        const lines = (rest + chunk).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) take(line);
      });
      answer.on('end', resolve);
      answer.on('error', reject);
    });
    call.on('error', reject);
    call.end();
    await promise;
  }

  close(): void {
    this.#agent.destroy();
  }
}
