import { EngramError, type EventGroup, isEngramError, type Revision, revision } from '@engram/core';
import type { Prng } from '@engram/sim';
import type { StoreHistory } from '@engram/sim/model';
import type { Watcher, WatchSink, WatchStream } from '@engram/watch-hub';
import { expectThat, Finding } from '../judge/finding.ts';
import { type SeenGroup, WatchJudge, type Watched } from '../judge/watch-judge.ts';
import { type Credential, type Credentials, nobody } from '../users/credentials.ts';
import type { RpcWatchSink, RpcWatchStream } from '../users/rpc-watch-stream.ts';
import type { WatchAccess } from '../users/watch-access.ts';
import type { Served } from './served.ts';

export interface WatchClientOptions {
  readonly name: string;
  readonly random: Prng;
  readonly history: StoreHistory;
  /** The probability that its sink refuses an offer, and the maximum time until it has room again. */
  readonly refuses: number;
  readonly fullMsMax: number;
  readonly tell: (text: () => string) => void;
  readonly onFinding: (error: unknown) => void;
  /** Called with a revision that the client was told. Later reads must have it. */
  readonly onSeen: (revision: number) => void;
  /** Who the client says it is, where clients have users. */
  readonly credentials: Credentials;
  readonly access: WatchAccess;
}

interface Watch {
  readonly judge: WatchJudge;
  /** Its client may have had the right to it since this position. */
  since: number;
  readonly progressNotify: boolean;
  /** Undefined while the watch is not registered at a node. */
  watcher: Watcher | undefined;
}

/** Maximum time until a client resumes a watch that has ended. */
const COME_BACK_MS_MAX = 20;

/** The part of runs in which a client that comes back is another user. */
const OTHER_USER = 0.3;

/** The sink of one stream, of the hub or of etcd's service. Calls after the client has left the stream are dropped. */
class StreamSink implements WatchSink, RpcWatchSink {
  readonly #client: WatchClient;
  isOpen = true;

  constructor(client: WatchClient) {
    this.#client = client;
  }

  events(watcher: Watcher, groups: readonly EventGroup[], header: Revision): boolean {
    return !this.isOpen || this.#client.events(watcher, groups, header);
  }

  isFull(): boolean {
    return this.isOpen && this.#client.isFull();
  }

  taken(watcher: Watcher, groups: readonly SeenGroup[], header: Revision): void {
    if (this.isOpen) this.#client.taken(watcher, groups, header);
  }

  denied(watcher: Watcher, reason: string): void {
    if (this.isOpen) this.#client.denied(watcher, reason);
  }

  compacted(watcher: Watcher, compactRevision: Revision): void {
    if (this.isOpen) this.#client.compacted(watcher, compactRevision);
  }

  progress(watcher: Watcher | undefined, at: Revision): void {
    if (this.isOpen) this.#client.progress(watcher, at);
  }

  failed(cause: unknown): void {
    if (this.isOpen) this.#client.failed(cause);
  }
}

/** A client with one stream of watches. It resumes all watches after the end of its stream. */
export class WatchClient implements WatchSink, RpcWatchSink {
  readonly name: string;
  readonly #options: WatchClientOptions;
  readonly #watches: Watch[] = [];
  #life: Served | undefined;
  #stream: WatchStream | RpcWatchStream | undefined;
  #credential: Credential = nobody;
  #sink: StreamSink | undefined;
  #header = 0;
  #fullUntilMs = 0;
  #full = false;
  #healed = false;

  constructor(options: WatchClientOptions) {
    this.name = options.name;
    this.#options = options;
  }

  get watches(): number {
    return this.#watches.length;
  }

  /** Whether some watch of the client is not registered at a node. */
  get isBehind(): boolean {
    return this.#stream === undefined || this.#watches.some(({ watcher }) => watcher === undefined);
  }

  /** The node of its stream, or the node to which it connects. */
  get life(): Served | undefined {
    return this.#life;
  }

  /** Sets the node to which the client connects next. */
  choose(life: Served): void {
    this.#life = life;
  }

  /** Ends the client's stream, if its node lives. */
  leave(): void {
    const stream = this.#stream;
    const { process } = this.#life ?? {};
    this.disconnected();
    if (process?.alive === true) process.after(0, () => stream?.close());
  }

  /** Forgets the node and the stream, one of which has ended. */
  disconnected(): void {
    if (this.#sink !== undefined) this.#sink.isOpen = false;
    this.#stream = undefined;
    this.#life = undefined;
    for (const watch of this.#watches) watch.watcher = undefined;
  }

  /** Opens a stream if there is none, and resumes all watches. */
  connect(life: Served): void {
    if (life.face === undefined || life.stopping) return;
    const { desk } = life.face;
    if (desk !== undefined && this.#stream === undefined) {
      const { random, credentials } = this.#options;
      if (this.#credential === nobody || random.chance(OTHER_USER)) this.#credential = credentials.pick(random);
      const ready = desk.ready(this.#credential);
      if (ready !== undefined) {
        void ready.then(() => {
          if ((this.#life ?? life) === life) this.#open(life);
        });
        return;
      }
    }
    this.#open(life);
  }

  #open(life: Served): void {
    const { face } = life;
    if (face === undefined || life.stopping) return;
    this.#guarded(() => {
      if (this.#stream === undefined) {
        this.#life = life;
        this.#header = 0;
        this.#full = false;
        this.#sink = new StreamSink(this);
        this.#stream = face.desk?.openWatch(this.#sink, this.#credential) ?? face.hub.openStream(this.#sink);
      }
      for (const watch of [...this.#watches]) if (watch.watcher === undefined) this.#resume(watch);
    });
  }

  /**
   * Starts a watch at a revision; 0 means from now on. Does nothing without a node. The node must have the log before
   * `from`.
   */
  watch(watched: Watched, startRevision: number, progressNotify: boolean, from: number): void {
    const stream = this.#stream;
    const face = this.#life?.face;
    if (stream === undefined || face === undefined || this.#life?.stopping === true) return;
    this.#guarded(() => {
      const { history, tell } = this.#options;
      const outcome = this.#create(watched, progressNotify, startRevision);
      if (outcome === undefined) return;
      const { watcher, revision: created } = outcome;
      expectThat(
        created >= history.revisionAt(from) && created <= history.revision,
        'watch',
        () => `${watched.name} was created at ${created}`,
      );
      tell(() => `${this.name} watches ${watched.name} from ${startRevision}, created at ${created}`);
      const judge = new WatchJudge(history, watched, startRevision === 0 ? created + 1 : startRevision);
      judge.begins(face.compactRevision);
      this.#watches.push({ judge, progressNotify, watcher, since: this.#localFrom });
      stream.start(watcher);
    });
  }

  /** Cancels the oldest watch. */
  cancel(): void {
    const watch = this.#watches[0];
    if (watch === undefined) return;
    this.#guarded(() => {
      this.#watches.shift();
      if (watch.watcher !== undefined) this.#stream?.cancel(watch.watcher.watchId);
      this.#options.tell(() => `${this.name} cancels ${watch.judge.watched.name}`);
    });
  }

  requestProgress(): void {
    if (this.#life?.face !== undefined) this.#guarded(() => this.#stream?.requestProgress());
  }

  /** Makes the sink refuse offers for this time. */
  fill(ms: number): void {
    const scheduler = this.#life?.process.host.scheduler;
    if (scheduler !== undefined) this.#fullUntilMs = scheduler.nowMs + ms;
  }

  /** Lets the sink take all further offers. */
  heal(): void {
    this.#fullUntilMs = 0;
    this.#healed = true;
  }

  /** Checks that every watch is registered and has all its events. */
  checkComplete(): void {
    for (const { judge, watcher } of this.#watches) {
      expectThat(watcher !== undefined, 'watch', () => `${judge.watched.name} has not come back`);
      judge.checkComplete();
      this.#options.access.goesOn(this.#credential, judge.watched);
    }
  }

  events(watcher: Watcher, groups: readonly EventGroup[], header: Revision): boolean {
    if (this.#refuse()) return false;
    this.taken(watcher, groups, header);
    return true;
  }

  isFull(): boolean {
    return this.#full || this.#refuse();
  }

  taken(watcher: Watcher, groups: readonly SeenGroup[], header: Revision): void {
    this.#guarded(() => {
      this.#checkHeader(header);
      const watch = this.#watches.find((one) => one.watcher === watcher);
      if (watch === undefined) throw new Finding('watch', `${this.name}: events of a watch that it has cancelled`);
      watch.judge.events(groups, header);
      this.#options.onSeen(header);
      this.#options.tell(
        () => `${this.name} ${watch.judge.watched.name} gets ${groups.map(({ revision: at }) => at).join(' ')}`,
      );
      this.#options.access.sees(this.#credential, watch.judge.watched, groups);
    });
  }

  /** The watcher has ended, and its client does not ask again. */
  denied(watcher: Watcher, reason: string): void {
    this.#guarded(() => {
      const watch = this.#watches.find((one) => one.watcher === watcher);
      if (watch === undefined) return;
      this.#watches.splice(this.#watches.indexOf(watch), 1);
      this.#options.tell(() => `${this.name} ${watch.judge.watched.name} ends: ${reason}`);
      this.#options.access.ended(this.#credential, watch.judge.watched, watch.since, reason);
    });
  }

  compacted(watcher: Watcher, compactRevision: Revision): void {
    this.#guarded(() => {
      const watch = this.#watches.find((one) => one.watcher === watcher);
      if (watch === undefined) return;
      watch.judge.compacted(compactRevision);
      watch.watcher = undefined;
      this.#options.tell(() => `${this.name} ${watch.judge.watched.name} is compacted at ${compactRevision}`);
      this.#comeBack();
    });
  }

  progress(watcher: Watcher | undefined, at: Revision): void {
    this.#guarded(() => {
      this.#checkHeader(at);
      this.#options.tell(() => `${this.name} progress ${at}`);
      for (const watch of this.#watches) {
        if (watch.watcher !== undefined && (watcher === undefined || watch.watcher === watcher))
          watch.judge.progress(at);
      }
    });
  }

  failed(cause: unknown): void {
    const life = this.#life;
    this.#options.tell(() => `${this.name} fails: ${String(cause)}`);
    this.disconnected();
    this.#life = life;
    this.#comeBack();
    if (life?.failingReads === true || life?.stopping === true) return;
    if (life?.slowReads === true && isEngramError(cause, 'Timeout')) return;
    if (life?.forgotten === true && isEngramError(cause, 'Timeout')) return;
    this.#options.onFinding(new Finding('watch', `${this.name} broke: ${String(cause)}`, { cause }));
  }

  /** Reconnects later, because a sink must not call the hub. */
  #comeBack(): void {
    const life = this.#life;
    life?.process.after(this.#options.random.fraction() * COME_BACK_MS_MAX, () => this.connect(life));
  }

  #resume(watch: Watch): void {
    const { watched, next } = watch.judge;
    const outcome = this.#create(watched, watch.progressNotify, next);
    if (outcome === undefined) {
      this.#watches.splice(this.#watches.indexOf(watch), 1);
      return;
    }
    const { watcher } = outcome;
    watch.since = this.#localFrom;
    watch.judge.begins(this.#life?.face?.compactRevision ?? -1);
    watch.watcher = watcher;
    this.#options.tell(() => `${this.name} resumes ${watched.name} from ${next}`);
    this.#stream!.start(watcher);
  }

  /** The node has applied the log before this position. */
  get #localFrom(): number {
    return this.#life?.face?.applied ?? 1;
  }

  /** Undefined if the client may not watch this. */
  #create(
    watched: Watched,
    progressNotify: boolean,
    startRevision: number,
  ): { watcher: Watcher; revision: number } | undefined {
    const { tell, access } = this.#options;
    const { name, range, prevKv, noPut, noDelete } = watched;
    const at = { localFrom: this.#localFrom, desk: this.#life?.face?.desk };
    const outcome = this.#stream!.create({
      range,
      startRevision: revision(startRevision),
      prevKv,
      progressNotify,
      noPut,
      noDelete,
      fragment: false,
      watchId: 0,
    });
    if (outcome.kind === 'created') {
      access.created(this.#credential, watched, at);
      return outcome;
    }
    tell(() => `${this.name} ${name} is refused: ${outcome.kind === 'late' ? 'not known' : outcome.reason}`);
    if (outcome.kind === 'refused' && !access.refused(this.#credential, watched, outcome.reason, at))
      throw new Finding('watch', `${name} was refused: ${outcome.reason}`);
    return undefined;
  }

  /** Decides whether to refuse an offer, and schedules `drained` if so. */
  #refuse(): boolean {
    const { random, refuses, fullMsMax } = this.#options;
    const process = this.#life?.process;
    if (process === undefined || this.#healed) return false;
    if (this.#full) throw new Error('a stream that is full was offered something');
    const stalledMs = this.#fullUntilMs - process.host.scheduler.nowMs;
    if (stalledMs <= 0 && !random.chance(refuses)) return false;
    this.#full = true;
    const stream = this.#stream;
    process.after(Math.max(0, stalledMs) + random.fraction() * fullMsMax, () => {
      if (this.#stream !== stream) return;
      this.#full = false;
      this.#guarded(() => stream?.drained());
    });
    return true;
  }

  /** Checks that the header revision never decreases within a stream. */
  #checkHeader(header: number): void {
    expectThat(header >= this.#header, 'watch', () => `${this.name}: header ${header} after ${this.#header}`);
    this.#header = header;
  }

  /** Reports errors as findings, because a sink must not throw. Ignores the Stopped of a closed hub. */
  #guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      if (error instanceof EngramError && error.code === 'Stopped') return;
      this.#options.onFinding(error);
    }
  }
}
