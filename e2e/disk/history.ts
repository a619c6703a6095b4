import { setTimeout as delay } from 'node:timers/promises';
import type { Prng } from '@engram/sim';
import { ALL_KEYS, EtcdClient } from '../../test/support/etcd-client.ts';

/** Clocks of this process and of strace are the same, but this one is read in whole milliseconds. */
const CLOCK_MS = 2;

interface Operation {
  /** Undefined for a delete. */
  readonly value: string | undefined;
  readonly sentMs: number;
  ackedMs: number;
  revision: number;
}

export interface SeenKey {
  readonly value: string;
  readonly revision: number;
}

/** What clients asked and were told: each key belongs to one writer, which waits for each answer. */
export class History {
  readonly #keys = new Map<string, Operation[]>();
  #made = 0;
  /** While no process served, no mark was written: from the end of one life to the first answer of the next. */
  readonly #pauses: { readonly fromMs: number; toMs: number }[] = [];

  newValue(bytes: number): string {
    this.#made += 1;
    return `${this.#made}:`.padEnd(bytes, String.fromCharCode(97 + (this.#made % 26)));
  }

  send(key: string, value: string | undefined): Operation {
    const operation = { value, sentMs: Date.now(), ackedMs: Number.POSITIVE_INFINITY, revision: 0 };
    const before = this.#keys.get(key);
    if (before === undefined) this.#keys.set(key, [operation]);
    else before.push(operation);
    return operation;
  }

  acknowledge(operation: Operation, revision: number): void {
    operation.ackedMs = Date.now();
    operation.revision = revision;
    const pause = this.#pauses.at(-1);
    if (pause !== undefined) pause.toMs = Math.min(pause.toMs, operation.ackedMs);
  }

  /** The process has ended. */
  pause(): void {
    this.#pauses.push({ fromMs: Date.now(), toMs: Number.POSITIVE_INFINITY });
  }

  /** The newest revision that had been acknowledged for so long, without the pauses, at this moment. */
  acknowledgedFor(ageMs: number, atMs: number): number {
    let beforeMs = atMs - ageMs;
    for (const { fromMs, toMs } of this.#pauses) {
      if (fromMs < atMs && beforeMs < toMs) beforeMs = Math.min(beforeMs, fromMs - ageMs);
    }
    return this.acknowledgedAt(beforeMs);
  }

  /** The newest revision that was acknowledged before this moment; 0 if none was. */
  acknowledgedAt(atMs: number): number {
    let newest = 0;
    for (const operations of this.#keys.values()) {
      for (const { ackedMs, revision } of operations)
        if (ackedMs + CLOCK_MS <= atMs) newest = Math.max(newest, revision);
    }
    return newest;
  }

  get acknowledged(): number {
    return [...this.#keys.values()].flat().filter(({ ackedMs }) => Number.isFinite(ackedMs)).length;
  }

  /** What was asked and told before this moment. Nothing else was asked until any later one. */
  until(atMs: number): History {
    const before = new History();
    before.#pauses.push({ fromMs: atMs, toMs: Number.POSITIVE_INFINITY });
    for (const [key, operations] of this.#keys) {
      const sent = operations.filter(({ sentMs }) => sentMs - CLOCK_MS <= atMs);
      const told = sent.map((operation) =>
        operation.ackedMs + CLOCK_MS <= atMs ? operation : { ...operation, ackedMs: Number.POSITIVE_INFINITY },
      );
      if (told.length > 0) before.#keys.set(key, told);
    }
    return before;
  }

  /** What is wrong with a store that lost its power at this moment; undefined if nothing is. */
  judge(atMs: number, revision: number, seen: ReadonlyMap<string, SeenKey>): string | undefined {
    const newest = this.acknowledgedAt(atMs);
    if (revision < newest) return `revision ${newest} was acknowledged, and the store is at ${revision}`;
    for (const key of seen.keys()) if (!this.#keys.has(key)) return `key ${key} was never put`;
    for (const [key, operations] of this.#keys) {
      const acked = operations.findLastIndex(({ ackedMs }) => ackedMs + CLOCK_MS <= atMs);
      const sent = operations.findLastIndex(({ sentMs }) => sentMs - CLOCK_MS <= atMs);
      const found = seen.get(key);
      const possible = operations.slice(Math.max(0, acked), sent + 1);
      const match = possible.find(({ value }) => value === found?.value);
      if (match === undefined) {
        if (found === undefined && acked < 0) continue;
        const told = acked < 0 ? 'nothing' : `${operations[acked]!.value?.slice(0, 12) ?? 'its deletion'}`;
        return `key ${key} is ${found?.value.slice(0, 12) ?? 'not there'}, and ${told} was acknowledged`;
      }
      if (found !== undefined && match.revision > 0 && match.revision !== found.revision) {
        return `key ${key} is at revision ${found.revision}, and ${match.revision} was acknowledged`;
      }
    }
    return undefined;
  }
}

const WRITERS = 8;
const KEYS_OF_A_WRITER = 6;

/** Writes until the signal, or until the store is gone. */
export async function load(endpoint: string, history: History, random: Prng, forMs: number): Promise<void> {
  const client = new EtcdClient(endpoint);
  const untilMs = Date.now() + forMs;
  let revision = 0;
  const write = async (writer: number): Promise<void> => {
    while (Date.now() < untilMs) {
      const key = `/${writer}/${random.below(KEYS_OF_A_WRITER)}`;
      const deletes = random.chance(0.1);
      const value = deletes ? undefined : history.newValue(random.pick([10, 200, 3000]));
      const operation = history.send(key, value);
      const bytes = Buffer.from(key);
      const answer = deletes
        ? await client.deleteRange({ key: bytes })
        : await client.put({ key: bytes, value: Buffer.from(value!) });
      // A delete of nothing makes no revision.
      const made = 'deleted' in answer && Number(answer.deleted) === 0 ? 0 : Number(answer.header!.revision);
      history.acknowledge(operation, made);
      revision = Math.max(revision, Number(answer.header!.revision));
      await delay(random.below(6));
    }
  };
  const maintain = async (): Promise<void> => {
    while (Date.now() < untilMs) {
      await delay(300 + random.below(700));
      if (Date.now() >= untilMs) return;
      const at = Math.max(1, revision - 20);
      if (revision > 30) await client.compact({ revision: at, physical: random.chance(0.7) });
      if (random.chance(0.7)) await client.defragment();
    }
  };
  try {
    await Promise.all([...Array.from({ length: WRITERS }, (_, writer) => write(writer)), maintain()]);
  } finally {
    client.close();
  }
}

/** All keys of a running store. */
export async function readAll(endpoint: string): Promise<{ revision: number; seen: Map<string, SeenKey> }> {
  const client = new EtcdClient(endpoint);
  try {
    const { header, kvs } = await client.range({ ...ALL_KEYS });
    const seen = new Map<string, SeenKey>();
    for (const kv of kvs) {
      seen.set(Buffer.from(kv.key).toString(), {
        value: Buffer.from(kv.value).toString(),
        revision: Number(kv.modRevision),
      });
    }
    return { revision: Number(header!.revision), seen };
  } finally {
    client.close();
  }
}
