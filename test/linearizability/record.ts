import type { Prng } from '@engram/sim';
import { type EtcdClient, EtcdError } from '../support/etcd-client.ts';
import { isLinearizable, type Operation } from './checker.ts';
import { type KeyInput, keyModel, type KeyOutput, type KeyState } from './key-model.ts';

type Call = Operation<KeyInput, KeyOutput>;

const KEYS = 3;
const CALLS_A_KEY = 120;
/** Bound of lost answers, because each write with a lost answer doubles the orders that the search may have to try. */
const LOST_MAX = 4;

/**
 * Records the calls of several clients to a store, by key. Keys are used for a while and then replaced, because the
 * search for an order grows with the calls on one key.
 */
export class Recorder {
  readonly #calls = new Map<string, Call[]>();
  readonly #prng: Prng;
  #events = 0;
  #values = 0;
  #group = 0;
  /** Calls and lost writes of the group of keys in use. */
  #started = 0;
  #lost = 0;

  constructor(prng: Prng) {
    this.#prng = prng;
  }

  get calls(): number {
    let calls = 0;
    for (const list of this.#calls.values()) calls += list.length;
    return calls;
  }

  /** Makes one call of one client, of any kind unless `only` is given. Returns false if the answer was lost. */
  async call(client: EtcdClient, only?: 'get'): Promise<boolean> {
    this.#started += 1;
    if (this.#started > KEYS * CALLS_A_KEY || this.#lost >= LOST_MAX) {
      this.#group += 1;
      this.#started = 1;
      this.#lost = 0;
    }
    const key = `key ${this.#group}/${this.#prng.below(KEYS)}`;
    const input = only === 'get' ? ({ kind: 'get' } as const) : this.#input(key);
    const invoked = this.#events++;
    let output: KeyOutput | undefined;
    try {
      output = await perform(client, key, input);
    } catch (error) {
      if (!(error instanceof EtcdError) || !error.uncertain) throw error;
    }
    if (output === undefined && input.kind !== 'get') this.#lost += 1;
    const returned = output === undefined ? Number.POSITIVE_INFINITY : this.#events++;
    // A read without an answer proves nothing.
    if (output !== undefined || input.kind !== 'get') this.#list(key).push({ input, output, invoked, returned });
    return output !== undefined;
  }

  /** The keys whose history has no valid order. */
  violations(): readonly string[] {
    return [...this.#calls].filter(([, calls]) => !isLinearizable(keyModel, calls)).map(([key]) => key);
  }

  /** A history, for the analysis of a violation. */
  describe(key: string): string {
    return this.#list(key)
      .map((call) => JSON.stringify(call))
      .join('\n');
  }

  #list(key: string): Call[] {
    const list = this.#calls.get(key) ?? [];
    this.#calls.set(key, list);
    return list;
  }

  #input(key: string): KeyInput {
    const kind = this.#prng.below(10);
    if (kind < 4) return { kind: 'get' };
    const value = `v${this.#values++}`;
    if (kind < 6) return { kind: 'put', value };
    if (kind < 7) return { kind: 'delete' };
    return { kind: 'swap', expected: this.#lastSeen(key), value };
  }

  /** The revision of the key in its last recorded answer, often the newest. */
  #lastSeen(key: string): number {
    const last = this.#list(key).at(-1)?.output;
    if (last?.kind === 'read') return last.state.mod;
    return last?.kind === 'written' ? last.revision : 0;
  }
}

async function perform(client: EtcdClient, name: string, input: KeyInput): Promise<KeyOutput> {
  const key = Buffer.from(name);
  switch (input.kind) {
    case 'get': {
      const { kvs } = await client.range({ key });
      return { kind: 'read', state: stateOf(kvs[0]) };
    }
    case 'put': {
      const { header } = await client.put({ key, value: Buffer.from(input.value) });
      return { kind: 'written', revision: header?.revision ?? 0 };
    }
    case 'delete': {
      const { header, deleted } = await client.deleteRange({ key });
      return { kind: 'deleted', found: deleted > 0, revision: header?.revision ?? 0 };
    }
    case 'swap': {
      const { header, succeeded, responses } = await client.txn({
        compare: [{ target: 2, result: 0, key, modRevision: input.expected }],
        success: [{ requestPut: { key, value: Buffer.from(input.value) } }],
        failure: [{ requestRange: { key } }],
      });
      if (succeeded) return { kind: 'written', revision: header?.revision ?? 0 };
      return { kind: 'read', state: stateOf(responses[0]?.responseRange?.kvs[0]) };
    }
  }
}

function stateOf(kv: { readonly modRevision: number; readonly value: Uint8Array } | undefined): KeyState {
  return kv === undefined ? { mod: 0, value: '' } : { mod: kv.modRevision, value: Buffer.from(kv.value).toString() };
}
