import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { bounded } from '../../test/support/bounded.ts';

const ANSWER_MAX_MS = 30_000;

/** A collector of spans beside the nodes, whose CPU is not theirs. Disposal ends it. */
export class CollectorProcess implements AsyncDisposable {
  /** host:port, for OTLP over gRPC in plain text. */
  readonly address: string;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, address: string) {
    this.#child = child;
    this.address = address;
  }

  static async start(): Promise<CollectorProcess> {
    const child = fork(join(import.meta.dirname, 'collector-host.ts'));
    const address = await bounded('the collector starts', ANSWER_MAX_MS, messageOf(child));
    if (typeof address !== 'string') throw new Error('the collector has not told its address');
    return new CollectorProcess(child, address);
  }

  /** How many spans of this name have come. */
  async count(name: string): Promise<number> {
    const answer = messageOf(this.#child);
    this.#child.send('count');
    const counts = new Map<string, unknown>(
      Object.entries((await bounded('the collector answers', ANSWER_MAX_MS, answer)) ?? {}),
    );
    return Number(counts.get(name) ?? 0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, 'exit');
    this.#child.disconnect();
    await bounded('the collector ends', ANSWER_MAX_MS, ended);
  }
}

async function messageOf(child: ChildProcess): Promise<unknown> {
  const ended = new AbortController();
  const gone = once(child, 'exit', { signal: ended.signal }).then(() => {
    throw new Error('the collector has ended');
  });
  try {
    const [message] = await Promise.race([once(child, 'message', { signal: ended.signal }), gone]);
    return message;
  } finally {
    ended.abort();
    gone.catch(() => undefined);
  }
}
