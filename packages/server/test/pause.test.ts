import { setTimeout as delay } from 'node:timers/promises';
import { etcdserverpb } from '@engram/wire';
import { expect, test } from 'vitest';
import { Engram } from './support/engram-process.ts';
import { GrpcClient } from './support/grpc-client.ts';

const CLIENTS = 20;
const VALUE_BYTES = 4000;
/** Longer than a request may take. */
const PAUSE_MS = 10_000;
const FREED_MAX_MS = 20_000;

/** Clients that run one transaction after another: each locks a key and reads it. */
class Load {
  readonly #client: GrpcClient;
  readonly #waiting: { readonly answers: number; readonly resolve: () => void }[] = [];
  readonly #loops: Promise<void>[];
  #stopped = false;
  readonly outcomes = new Map<string, number>();
  answers = 0;
  underWay = 0;

  constructor(client: GrpcClient) {
    this.#client = client;
    this.#loops = Array.from({ length: CLIENTS }, (_, at) => this.#run(at));
  }

  async #run(at: number): Promise<void> {
    const key = Buffer.from(`lock/${at}`);
    const request = etcdserverpb.encodeTxnRequest({
      success: [{ requestRange: { key } }, { requestPut: { key, value: Buffer.alloc(VALUE_BYTES, at) } }],
    });
    while (!this.#stopped) {
      this.underWay += 1;
      const outcome = await this.#client.unary('/etcdserverpb.KV/Txn', request).then(
        () => 'OK',
        (error: Error) => error.message,
      );
      this.underWay -= 1;
      this.answers += 1;
      this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + 1);
      for (const { answers, resolve } of this.#waiting) if (this.answers >= answers) resolve();
    }
  }

  /** Resolves after `more` further answers. */
  answered(more: number): Promise<void> {
    return new Promise((resolve) => this.#waiting.push({ answers: this.answers + more, resolve }));
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#loops);
  }
}

test('a process that is stopped for longer than a request may take goes on, compacts, frees space and ends in time', async () => {
  await using engram = await Engram.start();
  using client = new GrpcClient(engram.url);
  const load = new Load(client);
  await load.answered(1500);
  engram.child.kill('SIGSTOP');
  await delay(500);
  const { answers, underWay } = load;
  expect(underWay, 'transactions under way').toBe(CLIENTS);
  await delay(PAUSE_MS - 500);
  expect([load.answers, load.underWay]).toEqual([answers, underWay]);
  engram.child.kill('SIGCONT');
  // The transactions that were under way, and as many new ones.
  await load.answered(2 * CLIENTS);
  await load.stop();
  // A client that waited too long may get a timeout. No other error is allowed.
  const allowed = new Set(['OK', '14: etcdserver: request timed out']);
  expect([...load.outcomes.keys()].filter((outcome) => !allowed.has(outcome))).toEqual([]);

  const before = await client.status();
  const revision = before.header?.revision;
  await client.unary('/etcdserverpb.KV/Compact', etcdserverpb.encodeCompactionRequest({ revision, physical: true }));
  // The compaction leaves one version of each of 20 keys. Files are cleaned after it.
  const endMs = performance.now() + FREED_MAX_MS;
  let after = await client.status();
  while (Number(after.dbSizeInUse) > Number(before.dbSizeInUse) / 10 && performance.now() < endMs) {
    await delay(100);
    after = await client.status();
  }
  expect(Number(after.dbSizeInUse)).toBeLessThan(Number(before.dbSizeInUse) / 10);
  const { code, tookMs } = await engram.stop();
  expect(code).toBe(0);
  expect(tookMs).toBeLessThan(5000);
});
