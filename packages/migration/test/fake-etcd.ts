import type { Source } from '@engram/migration';
import { etcdserverpb as pb, mvccpb } from '@engram/wire';
import { MigrationError } from '@engram/migration';

export type FakeChange =
  | { readonly put: string; readonly value?: string; readonly lease?: bigint }
  | { readonly del: string };

const CLUSTER = 0xe7cdn;

/** An etcd with a history, as its watch and its leases show it. */
export class FakeEtcd implements Source {
  readonly #living = new Map<string, { readonly version: number; readonly created: number }>();
  readonly #events: { readonly revision: number; readonly events: mvccpb.Event[] }[] = [];
  readonly #waiting = new Set<() => void>();
  readonly granted = new Map<bigint, number>();
  newest: number;
  authRevision = 1;
  /** The most events of one message; more come in fragments. */
  fragmentMax = Number.POSITIVE_INFINITY;
  /** Each watch ends after so many messages. */
  messagesMax = Number.POSITIVE_INFINITY;
  /** At this revision it shows no deletion, as etcds before 3.6 may. */
  compacted = 0;
  /** Changes a message before it is seen. */
  distort: (response: pb.WatchResponse) => pb.WatchResponse | undefined = (response) => response;
  watches = 0;

  constructor(newest = 1) {
    this.newest = newest;
  }

  /** One transaction. Returns its revision. */
  txn(...changes: readonly FakeChange[]): number {
    this.newest += 1;
    const revision = this.newest;
    const events = changes.map((change) => this.#event(change, revision));
    this.#events.push({ revision, events });
    this.#wake();
    return revision;
  }

  put(key: string, value = `${key}-${this.newest + 1}`, lease = 0n): number {
    return this.txn({ put: key, value, lease });
  }

  #event(change: FakeChange, modRevision: number): mvccpb.Event {
    if ('del' in change) {
      this.#living.delete(change.del);
      const kv = { ...mvccpb.newKeyValue(), key: Buffer.from(change.del), modRevision };
      return { type: 1, kv, prevKv: undefined };
    }
    const { put, value = '', lease = 0n } = change;
    const before = this.#living.get(put);
    const { version, created } = { version: (before?.version ?? 0) + 1, created: before?.created ?? modRevision };
    this.#living.set(put, { version, created });
    const bytes = { key: Buffer.from(put), value: Buffer.from(value) };
    return { type: 0, kv: { ...bytes, lease, version, createRevision: created, modRevision }, prevKv: undefined };
  }

  async *watch(from: number, signal: AbortSignal): AsyncGenerator<pb.WatchResponse> {
    this.watches += 1;
    if (from < this.compacted) throw new MigrationError('compacted', `compacted up to ${this.compacted}`);
    let sent = 0;
    yield this.#response({ created: true });
    let at = from;
    for (;;) {
      signal.throwIfAborted();
      const next = this.#events.find(({ revision }) => revision >= at);
      if (next === undefined) {
        await this.#more(signal);
        continue;
      }
      at = next.revision + 1;
      const shown = next.events.filter(({ type }) => type === 0 || next.revision !== this.compacted);
      for (let first = 0; first < shown.length; first += this.fragmentMax) {
        const events = shown.slice(first, first + this.fragmentMax);
        const fragment = first + this.fragmentMax < shown.length;
        const response = this.distort(this.#response({ events, fragment }));
        if (response !== undefined) yield response;
        sent += 1;
        if (sent >= this.messagesMax) throw new MigrationError('interrupted', 'the stream is cut');
      }
    }
  }

  #response(over: Partial<pb.WatchResponse>): pb.WatchResponse {
    const header = { clusterId: CLUSTER, memberId: 1n, revision: this.newest, raftTerm: 2 };
    return { ...pb.newWatchResponse(), header, ...over };
  }

  #more(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const abort = (): void => reject(signal.reason);
      signal.addEventListener('abort', abort, { once: true });
      this.#waiting.add(() => {
        signal.removeEventListener('abort', abort);
        resolve();
      });
    });
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }

  async revision(): Promise<number> {
    return this.newest;
  }

  async keys(): Promise<number> {
    return this.#living.size;
  }

  async leases(): Promise<readonly bigint[]> {
    return [...this.granted.keys()];
  }

  async leaseTtl(id: bigint): Promise<number | undefined> {
    return this.granted.get(id);
  }

  async auth(): Promise<{ enabled: boolean; authRevision: number }> {
    return { enabled: false, authRevision: this.authRevision };
  }
}
