import { setTimeout as sleep } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import { decode, type Decoded, type DecodedMessage, encode, type Fields, PerStore, show } from './messages.ts';
import { orderTies } from './ties.ts';
import { type Reply, STORES, type Stores } from './stores.ts';

/** How long to wait for etcd's storage version. */
const STORAGE_VERSION_MAX_MS = 30_000;
const SHOWN_MAX = 25;
const SHOWN_CHARACTERS_MAX = 4_000;

/** An answer in which values that the stores choose themselves are replaced by common names. */
export interface Answer {
  readonly code: string;
  readonly details: string;
  readonly messages: readonly DecodedMessage[];
}

/** A method: its path and the types of its messages. */
export interface Method {
  readonly path: string;
  readonly request: string;
  readonly response: string;
}

export function method(path: string, request: string, response = request.replace(/Request$/, 'Response')): Method {
  return { path: `etcdserverpb.${path}`, request: `etcdserverpb.${request}`, response: `etcdserverpb.${response}` };
}

export interface CallOptions {
  /** Fields of the answer that may differ. The caller documents why. */
  readonly ignore?: readonly string[];
  /** Of each store, in their order. */
  readonly metadata?: readonly Readonly<Record<string, string>>[];
  /** Converts both answers into a form in which they must be equal. */
  readonly settle?: (answers: readonly [Answer, Answer]) => readonly [Answer, Answer];
}

const compaction = method('KV/Compact', 'CompactionRequest');

/** Sends the same requests to both stores and counts equal and different answers. */
export class Judge {
  readonly stores: Stores;
  passed = 0;
  failed = 0;
  /** The revision in etcd's last header. */
  revision = 1;
  compacted = -1;
  /** Every revision that was compacted to. etcd keeps hashes of them. */
  readonly compactions = new Set<number>();
  #part = '';
  readonly #chosen: readonly Map<bigint, string>[] = STORES.map(() => new Map<bigint, string>());
  #leases = 0;

  constructor(stores: Stores) {
    this.stores = stores;
  }

  part(name: string): void {
    this.#part = name;
  }

  /** Reads the ids of new stores. Their common names stay the same. */
  async learnIdentities(): Promise<void> {
    this.revision = 1;
    this.compacted = -1;
    this.compactions.clear();
    for (const [store, names] of this.#chosen.entries()) {
      names.clear();
      const { header } = await this.#status(store);
      const { clusterId, memberId } = header as DecodedMessage;
      // Ids are unsigned in some messages and signed in others.
      for (const asNumber of [BigInt.asIntN, BigInt.asUintN]) {
        names.set(asNumber(64, clusterId as bigint), 'the cluster');
        for (const id of [memberId as bigint, ...this.stores.memberIds(store)]) {
          names.set(asNumber(64, id), 'the member');
        }
      }
    }
  }

  /**
   * Waits until etcd's storage has etcd's version, some seconds after its start. Until then etcd reports 3.5.0 and
   * refuses features of newer storage.
   */
  async untilStorageVersion(): Promise<void> {
    for (const endMs = Date.now() + STORAGE_VERSION_MAX_MS; Date.now() < endMs; await sleep(100)) {
      const { version, storageVersion } = await this.#status(0);
      const minor = /^\d+\.\d+/.exec(String(version))?.[0];
      if (minor !== undefined && String(storageVersion).startsWith(`${minor}.`)) return;
    }
    throw new Error(`etcd's storage has another version after ${STORAGE_VERSION_MAX_MS} ms`);
  }

  async #status(store: number): Promise<DecodedMessage> {
    const { messages } = await this.stores.call(store, 'etcdserverpb.Maintenance/Status', new Uint8Array(), {});
    return decode('etcdserverpb.StatusResponse', messages[0] ?? new Uint8Array(), () => undefined);
  }

  /** The member's own id, for requests. */
  get memberId(): PerStore {
    return new PerStore(
      'the member',
      this.#chosen.map((names) => [...names].find(([, name]) => name === 'the member')![0]),
    );
  }

  /** Sends a request to both stores and compares the answers. The run continues with etcd's answer. */
  async call(asked: Method, request: Fields, options: CallOptions = {}): Promise<Answer> {
    const bytes = STORES.map((_name, store) => encode(asked.request, request, store));
    return this.callBytes(asked, bytes, `${asked.path} ${show(request)}`, request, options);
  }

  /** Sends a request whose answers are known to differ. The stores may differ afterwards. */
  async callKnown(asked: Method, request: Fields, why: string): Promise<void> {
    const replies = await Promise.all(
      STORES.map((_name, store) => this.stores.call(store, asked.path, encode(asked.request, request, store), {})),
    );
    const [etcd, store] = this.#answers(asked.response, replies, []);
    this.known(`${asked.path} ${show(request)} (${why})`, etcd, store);
  }

  /** Sends a compaction. If it succeeds, `compacted` becomes its revision. */
  async compact(request: Fields, options: CallOptions = {}): Promise<void> {
    const { code } = await this.call(compaction, request, options);
    if (code !== 'OK') return;
    this.compacted = Number(request['revision']);
    this.compactions.add(this.compacted);
  }

  async callBytes(
    { path, response }: Pick<Method, 'path' | 'response'>,
    bytes: readonly Uint8Array[],
    label: string,
    request: Fields | undefined,
    { ignore = [], metadata = [], settle }: CallOptions = {},
  ): Promise<Answer> {
    const replies = await Promise.all(
      bytes.map((sent, store) => this.stores.call(store, path, sent, metadata[store] ?? {})),
    );
    let [ours, theirs] = this.#answers(response, replies, ignore);
    if (request !== undefined) [ours, theirs] = [orderTies(request, ours), orderTies(request, theirs)];
    if (settle !== undefined) [ours, theirs] = settle([ours, theirs]);
    this.equal(label, ours, theirs);
    const revision = (ours.messages.at(-1)?.['header'] as DecodedMessage | undefined)?.['revision'];
    if (typeof revision === 'bigint') this.revision = Number(revision);
    return ours;
  }

  answer(store: number, response: string, reply: Reply, ignore: readonly string[] = []): Answer {
    const messages = reply.messages.map((message) => this.decode(store, response, message, ignore));
    // protobuf-go randomly writes one of two kinds of space into its errors, so that programs do not compare them.
    const details = reply.details.replaceAll('\u00a0', ' ');
    return { code: status[reply.code] ?? String(reply.code), details, messages };
  }

  decode(store: number, type: string, bytes: Uint8Array, ignore: readonly string[] = []): DecodedMessage {
    const message = decode(type, bytes, (id) => this.#chosen[store]?.get(id));
    const streamed = message['rangeResponse'] as DecodedMessage | undefined;
    for (const header of [message['header'], streamed?.['header']]) {
      if (typeof header === 'object' && 'raftTerm' in header) header['raftTerm'] = 'some';
    }
    for (const name of ignore) delete message[name];
    return message;
  }

  /** Grants a lease whose id each store chooses. The lease gets a common name. */
  async grantUnnamed(request: Fields): Promise<PerStore> {
    this.#leases += 1;
    const name = `lease#${this.#leases}`;
    const bytes = encode('etcdserverpb.LeaseGrantRequest', request, 0);
    const answers = await Promise.all(
      STORES.map(async (_name, store) => {
        const reply = await this.stores.call(store, 'etcdserverpb.Lease/LeaseGrant', bytes, {});
        return this.answer(store, 'etcdserverpb.LeaseGrantResponse', reply);
      }),
    );
    const ids = answers.map((answer, store) => {
      const { ID } = answer.messages[0] ?? {};
      if (typeof ID !== 'bigint' || ID <= 0n) throw new Error(`${STORES[store]} chose the lease id ${ID}`);
      this.#chosen[store]?.set(ID, name);
      return ID;
    });
    const named = answers.map((answer) => ({
      ...answer,
      messages: answer.messages.map((one) => ({ ...one, ID: name })),
    }));
    this.equal(`a lease without an id: ${show(request)}`, named[0], named[1]);
    return new PerStore(name, ids);
  }

  equal(label: string, etcd: unknown, store: unknown): boolean {
    const [left, right] = [full(etcd), full(store)];
    if (left === right) {
      this.passed += 1;
      return true;
    }
    this.fail(label, left, right);
    return false;
  }

  /** Reports a documented difference that no longer exists. */
  known(label: string, etcd: unknown, store: unknown): void {
    if (full(etcd) === full(store)) console.log(`no longer different in ${this.#part}: ${label}`);
  }

  fail(what: string, fromEtcd: string, fromStore: string): void {
    this.failed += 1;
    if (this.failed > SHOWN_MAX) return;
    const [label = '', etcd = '', store = ''] = [what, fromEtcd, fromStore].map(shorten);
    const from = Math.max(
      0,
      [...etcd].findIndex((character, at) => character !== store[at]) - SHOWN_CHARACTERS_MAX / 2,
    );
    const cut = (text: string): string => (from > 0 ? '...' : '') + text.slice(from, from + SHOWN_CHARACTERS_MAX);
    console.log(`DIFFERENT in ${this.#part}: ${label.slice(0, SHOWN_CHARACTERS_MAX)}`);
    console.log(`  etcd   ${cut(etcd)}\n  store  ${cut(store)}`);
  }

  #answers(response: string, replies: readonly Reply[], ignore: readonly string[]): [Answer, Answer] {
    const [etcd, store] = replies;
    if (etcd === undefined || store === undefined) throw new Error('two stores, two answers');
    return [this.answer(0, response, etcd, ignore), this.answer(1, response, store, ignore)];
  }
}

/** Shortens runs of one character, of which long values consist. */
const shorten = (text: string): string => text.replace(/(.)\1{39,}/gs, (run, one: string) => `${one}*${run.length}`);

/** The whole value as text, independent of the order of fields. */
function full(value: unknown): string {
  return JSON.stringify(value, (_name, one: unknown) => {
    if (typeof one === 'bigint') return `${one}n`;
    if (typeof one !== 'object' || one === null || Array.isArray(one)) return one;
    return Object.fromEntries(Object.entries(one).toSorted(([left], [right]) => (left < right ? -1 : 1)));
  });
}

export const isMessage = (value: Decoded | undefined): value is DecodedMessage =>
  typeof value === 'object' && !Array.isArray(value);
export const listOf = (value: Decoded | undefined): readonly DecodedMessage[] =>
  Array.isArray(value) ? value.filter(isMessage) : [];
