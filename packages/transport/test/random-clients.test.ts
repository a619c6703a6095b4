import { ClientBudgets } from '@engram/core';
import { Flag, rstStreamFrame, SettingId, settingsFrame, windowUpdateFrame } from '@engram/http2';
import { Prng } from '@engram/sim';
import { serve } from '@engram/transport';
import { describe, expect, test } from 'vitest';
import { frame, grpcHeaders, grpcMessage, RawClient } from './support/raw-client.ts';
import { type Serving, startServing } from './support/serving.ts';

/*
 * Clients that do what a seed says: they open streams of all kinds, leave requests unfinished, reset, move their windows up and down, stop
 * reading. In the end they finish, open their windows and read. Then each stream has its end, and nothing is held.
 */

const RUNS = Number(process.env['RUNS'] ?? 4);
const SEED = Number(process.env['SEED'] ?? Date.now() % 2 ** 31);
const STEPS = 250;
const MiB = 1024 * 1024;
/** A failure ends what waits, and says what was missing. */
const PATIENCE = { timeout: 30_000, interval: 5 };
const SENT_MAX_BYTES = 5 * MiB;
const WINDOWS = [0, 1, 100, 20_000, 65_535, MiB];
/** What LeaveTaking asks with. */
const DRAIN_PING = Buffer.from([1, 6, 1, 8, 0, 3, 3, 9]);

const bounds = {
  wide: { requestBytes: 64 * MiB, answerBytes: 64 * MiB, streams: 10_000, connections: 100, watcherBytes: 1 },
  tight: { requestBytes: 2 * MiB, answerBytes: 4 * MiB, streams: 60, connections: 100, watcherBytes: 1 },
};

interface Opened {
  readonly id: number;
  /** Frames of the request that are not sent. */
  readonly rest: Buffer[];
  reset: boolean;
}

class RandomClient {
  readonly #prng: Prng;
  readonly raw: RawClient;
  #opened: Opened[] = [];
  #nextId = 1;
  #sentBytes = 0;

  constructor(prng: Prng, raw: RawClient) {
    this.#prng = prng;
    this.raw = raw;
  }

  step(): void {
    const prng = this.#prng;
    const { socket } = this.raw;
    const one = this.#opened.length === 0 ? undefined : prng.pick(this.#opened);
    const act = prng.below(11);
    if (act < 5) this.#open();
    else if (act === 5) this.#write(settingsFrame([[SettingId.INITIAL_WINDOW_SIZE, prng.pick(WINDOWS)]]));
    else if (act === 6) this.#write(windowUpdateFrame(0, 1 + prng.below(100_000)));
    else if (act === 7) socket[prng.chance(0.5) ? 'pause' : 'resume']();
    else if (one === undefined || one.reset) return;
    else if (act === 8) this.#write(windowUpdateFrame(one.id, 1 + prng.below(100_000)));
    else if (act === 9) this.#write(...one.rest.splice(0, 1));
    else if (prng.chance(0.5)) {
      one.reset = true;
      this.#write(rstStreamFrame(one.id, 8));
    }
  }

  /** Finishes what it has begun, and takes everything. */
  heal(): void {
    this.raw.socket.resume();
    for (const { rest, reset } of this.#opened) if (!reset) this.#write(...rest.splice(0));
    this.#write(settingsFrame([[SettingId.INITIAL_WINDOW_SIZE, 64 * MiB]]), windowUpdateFrame(0, 2 ** 30));
  }

  /** The streams without an end, of those that the server has not refused in its last GOAWAY. */
  get unanswered(): readonly number[] {
    const { received } = this.raw;
    const goAways = received.filter(({ type }) => type === 'GOAWAY').map(({ payload }) => payload.readUInt32BE(0));
    const last = goAways.at(-1) ?? Number.POSITIVE_INFINITY;
    const ended = new Set(
      received.filter(({ type, endStream }) => endStream || type === 'RST_STREAM').map(({ streamId }) => streamId),
    );
    return this.#opened.filter(({ id, reset }) => !reset && id <= last && !ended.has(id)).map(({ id }) => id);
  }

  #open(): void {
    if (this.#sentBytes > SENT_MAX_BYTES) return;
    const prng = this.#prng;
    const id = this.#nextId;
    this.#nextId += 2;
    const path = prng.pick(['Sync', 'Async', 'Big', 'Endless', 'Chunks', 'Flood', 'Count', 'Bidi', 'Throw', 'None']);
    const takesBytes = ['Sync', 'Async', 'Bidi'].includes(path);
    const most = path === 'Big' || path === 'Endless' ? 500_000 : 20;
    const message = grpcMessage(takesBytes ? Buffer.alloc(prng.below(40_000)) : String(prng.below(most)));
    const bytes = Buffer.concat(Array.from({ length: path === 'Bidi' ? 1 + prng.below(4) : 1 }, () => message));
    const rest: Buffer[] = [];
    for (let at = 0; at < bytes.length; ) {
      const end = Math.min(bytes.length, at + 1 + prng.below(16_000));
      rest.push(this.raw.data(id, bytes.subarray(at, end), end === bytes.length));
      at = end;
    }
    const timeout = prng.chance(0.1) ? '50m' : undefined;
    const encoding = prng.chance(0.1) ? 'gzip' : undefined;
    const changes = { 'grpc-timeout': timeout, 'grpc-encoding': encoding };
    this.#write(this.raw.headers(id, grpcHeaders(`/test.Echo/${path}`, changes)));
    this.#write(...rest.splice(0, prng.chance(0.7) ? rest.length : prng.below(rest.length)));
    this.#opened.push({ id, rest, reset: false });
  }

  #write(...frames: readonly Buffer[]): void {
    for (const { length } of frames) this.#sentBytes += length;
    this.raw.write(...frames);
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe.each(['wide', 'tight'] as const)('with %s bounds', (kind) => {
  const seeds = Array.from({ length: RUNS }, (_, run) => SEED + run);

  async function begin(prng: Prng): Promise<{ budgets: ClientBudgets; serving: Serving; clients: RandomClient[] }> {
    const budgets = new ClientBudgets(bounds[kind]);
    const serving = await startServing(serve, { budgets, maxConcurrentStreams: prng.pick([5, 100, 1000]) });
    const clients: RandomClient[] = [];
    for (let count = 0; count < 3; count += 1) {
      const window = [SettingId.INITIAL_WINDOW_SIZE, prng.pick(WINDOWS)] as const;
      clients.push(new RandomClient(prng, await RawClient.open(serving.port, [window])));
    }
    return { budgets, serving, clients };
  }

  const used = ({ requestBytes, answerBytes, streams }: ClientBudgets): number =>
    requestBytes.used + answerBytes.used + streams.used;

  test.each(seeds)('no stream is forgotten, and nothing is held afterwards (SEED=%d)', async (seed) => {
    const prng = new Prng(seed);
    const { budgets, serving, clients } = await begin(prng);
    for (let step = 0; step < STEPS; step += 1) {
      prng.pick(clients).step();
      if (prng.chance(0.1)) await turn();
    }
    for (const client of clients) client.heal();
    await expect.poll(() => clients.map(({ unanswered }) => unanswered), PATIENCE).toEqual([[], [], []]);
    expect(clients.map(({ raw }) => raw.closed)).toEqual([false, false, false]);
    await expect.poll(() => used(budgets), PATIENCE).toBe(0);
    for (const { raw } of clients) raw[Symbol.dispose]();
    await serving.server.close();
    expect([serving.observer.open, budgets.connections.used]).toEqual([0, 0]);
  });

  test.each(seeds)('a server that drains answers all that it has not refused (SEED=%d)', async (seed) => {
    const prng = new Prng(seed);
    const { budgets, serving, clients } = await begin(prng);
    const drainsAt = prng.below(STEPS);
    let drained = Promise.resolve();
    for (let step = 0; step < STEPS; step += 1) {
      const client = prng.pick(clients);
      if (step === drainsAt) drained = serving.server.drain(new AbortController().signal);
      if (step > drainsAt && prng.chance(0.05)) client.raw.write(frame('PING', Flag.ACK, 0, DRAIN_PING));
      client.step();
      if (prng.chance(0.1)) await turn();
    }
    for (const client of clients) {
      client.heal();
      client.raw.write(frame('PING', Flag.ACK, 0, DRAIN_PING));
    }
    await drained;
    for (const { raw } of clients) await raw.untilClosed();
    expect(clients.map(({ unanswered }) => unanswered)).toEqual([[], [], []]);
    const left = (): number => used(budgets) + budgets.connections.used + serving.observer.open;
    await expect.poll(left, PATIENCE).toBe(0);
  });
});
