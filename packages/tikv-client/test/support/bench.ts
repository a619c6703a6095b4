import { utf8 } from '@engram/core';
import { Prng, Scheduler, SimClock } from '@engram/sim';
import type { Timestamp } from '@engram/tso';
import { onTestFinished } from 'vitest';
import {
  type CallOptions,
  type CommitOutcome,
  TikvClient,
  type TikvClientOptions,
  type Transaction,
} from '../../index.ts';
import { FakeCluster, type FakeClusterOptions, type FakeLock } from '../../testing.ts';

export const k = utf8;
export const text = (bytes: Uint8Array | undefined): string | undefined =>
  bytes === undefined ? undefined : Buffer.from(bytes).toString();

/** A scripted cluster, a client of it, and a simulated clock that `run` advances. */
export class Bench {
  readonly clock = new SimClock({ scheduler: new Scheduler(), wallMs: 1_700_000_000_000 });
  readonly cluster: FakeCluster;
  client!: TikvClient;
  readonly sleeps: [string, number][] = [];
  /** Set by tests that send a request that the cluster must refuse. */
  refusalExpected = false;

  private constructor(options: Omit<FakeClusterOptions, 'clock'>) {
    this.cluster = new FakeCluster({ ...options, clock: this.clock });
    onTestFinished(() => {
      if (!this.refusalExpected && this.cluster.refusal !== undefined) throw this.cluster.refusal;
    });
  }

  static async make(
    cluster: Omit<FakeClusterOptions, 'clock'> = {},
    options: Partial<TikvClientOptions> = {},
  ): Promise<Bench> {
    const bench = new Bench(cluster);
    bench.client = await bench.connect(options);
    return bench;
  }

  /** A bench without a client, to test what happens while a client connects. */
  static bare(cluster: Omit<FakeClusterOptions, 'clock'> = {}): Bench {
    return new Bench(cluster);
  }

  connect(options: Partial<TikvClientOptions> & CallOptions = {}): Promise<TikvClient> {
    return this.run(
      TikvClient.connect({
        pdAddresses: this.cluster.pdAddresses,
        transport: this.cluster.transport,
        clock: this.clock,
        random: new Prng(1),
        observer: { backoff: (kind, ms) => this.sleeps.push([kind, ms]) },
        ...options,
      }),
    );
  }

  run<T>(promise: Promise<T>): Promise<T> {
    return this.clock.run(promise);
  }

  /** Writes `entries` in one transaction. Throws unless it is committed. */
  async put(
    entries: Readonly<Record<string, string>>,
    options: Parameters<Transaction['commit']>[0] = {},
  ): Promise<bigint> {
    const outcome = await this.run(this.write(entries, options));
    if (outcome.kind !== 'committed') throw new Error(`not committed: ${outcome.kind}`);
    return outcome.commitTs;
  }

  async write(
    entries: Readonly<Record<string, string>>,
    options: Parameters<Transaction['commit']>[0] = {},
  ): Promise<CommitOutcome> {
    const txn = await this.client.begin();
    for (const [key, value] of Object.entries(entries)) txn.put(k(key), k(value));
    return txn.commit(options);
  }

  async get(key: string): Promise<string | undefined> {
    return text(await this.run(this.client.snapshot().then((snapshot) => snapshot.get(k(key)))));
  }

  /** All rows of a range as "key=value". */
  async scan(
    start: string,
    end: string,
    options: Parameters<Awaited<ReturnType<TikvClient['snapshot']>>['scan']>[2] = {},
  ): Promise<string[]> {
    const collect = async (): Promise<string[]> => {
      const rows: string[] = [];
      const snapshot = await this.client.snapshot();
      for await (const { key, value } of snapshot.scan(k(start), k(end), options))
        rows.push(`${text(key)}=${text(value)}`);
      return rows;
    };
    return this.run(collect());
  }

  idle(): Promise<void> {
    return this.run(this.client.idle());
  }

  sleptMs(kind: string): number {
    return this.sleeps.filter(([name]) => name === kind).reduce((sum, [, ms]) => sum + ms, 0);
  }
}

/** A lock of a put of `1` whose client has gone. */
export const orphanLock = (startTs: Timestamp, primary: Uint8Array, change: Partial<FakeLock> = {}): FakeLock => ({
  startTs,
  primary,
  ttlMs: 3_000,
  op: 0,
  value: k('1'),
  txnSize: 1n,
  useAsyncCommit: false,
  minCommitTs: startTs + 1n,
  secondaries: [],
  ...change,
});
