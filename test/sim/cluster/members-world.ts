import { AssertionError, type Logger, type Seal } from '@engram/core';
import { type Member as ElectedMember, memberId } from '@engram/election';
import { Prng, Scheduler, SimHost, SimNetwork, type SimProcess } from '@engram/sim';
import { StoreHistory } from '@engram/sim/model';
import type { LogBatch } from '@engram/storage';
import { Finding } from '../judge/finding.ts';
import { type Call, type Excuses, Judge } from '../judge/judge.ts';
import { Calls } from '../world/calls.ts';
import type { Clients } from '../world/clients.ts';
import { LogJudge } from '../world/log-judge.ts';
import type { Served } from '../world/served.ts';
import { Story } from '../world/story.ts';
import { WatchClient } from '../world/watch-client.ts';
import { Credentials } from '../users/credentials.ts';
import type { FounderOptions } from '../users/founder.ts';
import { WatchAccess } from '../users/watch-access.ts';
import { Liar } from './liar.ts';
import { ListedMembers } from './listed-members.ts';
import { type MemberLife, type MemberLifeParts, urlOf } from './member-life.ts';
import type { MemberNode } from './member-node.ts';
import type { MemberSettings } from './settings.ts';

const RESTART_MS_MAX = 1000;
const COME_BACK_MS_MAX = 300;
/** The alarm that a leader at its quota raises. */
const NOSPACE = 1;

export interface MembersPlan {
  readonly seed: number;
  readonly settings: MemberSettings;
}

/**
 * The members of a cluster on simulated ports, clients, and the judge of their answers. What the members share is for the
 * subclasses: they tell of each batch and each seal in the log. Times are the scheduler's.
 */
export abstract class MembersWorld<
  Life extends MemberLife = MemberLife,
  Node extends MemberNode<Life> = MemberNode<Life>,
> implements Clients
{
  readonly plan: MembersPlan;
  readonly scheduler: Scheduler;
  readonly random: Prng;
  readonly network: SimNetwork;
  readonly history = new StoreHistory();
  readonly credentials = new Credentials();
  readonly judge: Judge;
  readonly story: Story;
  readonly calls: Calls;
  readonly logJudge: LogJudge;
  readonly watchClients: readonly WatchClient[];
  readonly nodes: Node[] = [];
  /** The host of a node outside the cluster. */
  readonly spareHost: SimHost;
  /** The member that lies, if one does. */
  readonly liar: Liar | undefined;
  /** Members that clients have asked to remove. */
  readonly removals = new Set<bigint>();
  readonly listed = new ListedMembers();
  /** True once no more faults occur. */
  ending = false;
  /** True once no more nodes are started. */
  over = false;
  /** True after a fault, or before the first leader. Calls may fail because of it. */
  troubled = true;
  /** True once every request must be served. */
  calmed = false;
  readonly #firstMembers: readonly ElectedMember[];
  /** What a process that starts now is told of the members, as it would read it in TiKV. */
  #lastKnown: readonly ElectedMember[];
  #finding: unknown;
  #disturbed = false;
  #fail!: (error: unknown) => void;
  readonly #failed: Promise<never>;
  /** The time at which a batch was first sent to the log, by position and seal. */
  readonly #sentMs = new Map<string, number>();
  /** The time at which an epoch's seal was durable. */
  readonly #sealedMs = new Map<number, number>();
  /** Callbacks for the next seal of a member. */
  readonly #sealing = new Map<bigint, () => void>();

  constructor(plan: MembersPlan, told: boolean, line?: (line: string) => void) {
    const { settings } = plan;
    this.plan = plan;
    this.random = new Prng(plan.seed).fork('world');
    this.scheduler = new Scheduler({ random: this.random.fork('order') });
    this.network = new SimNetwork(this.random.fork('network'));
    this.network.faults = this.#links;
    this.story = new Story(() => this.scheduler.nowMs, told, line);
    this.judge = new Judge(this.history, { slow: 1 - settings.clockSkew, fast: 1 + settings.clockSkew });
    const { judge, history, tell } = this;
    const onFinding = (error: unknown): void => this.fail(error);
    this.calls = new Calls({
      judge,
      tell,
      onFinding,
      nowMs: () => this.nowMs,
      excuses: (call, life, aborted) => this.#excuses(call, life, aborted),
    });
    this.logJudge = new LogJudge({
      judge,
      calls: this.calls,
      history,
      tell,
      isItsOwn: ({ mark }) => settings.unlike && mark?.kind === 'alarm' && mark.alarm === NOSPACE && mark.active,
    });
    this.watchClients = Array.from(
      { length: settings.watchers },
      (_, at) =>
        new WatchClient({
          name: `watcher ${at}`,
          random: this.random.fork(`watcher ${at}`),
          history,
          refuses: [0, 0.05, 0.3][at % 3]!,
          fullMsMax: [1, 30, 1000][at % 3]!,
          tell,
          onFinding,
          onSeen: (revision) => this.judge.told(revision),
          credentials: this.credentials,
          access: new WatchAccess(this.judge.access, this.history),
        }),
    );
    this.liar = settings.liar === 0 ? undefined : new Liar(BigInt(settings.liar), settings.liarClaims);
    this.spareHost = new SimHost(this.scheduler, { name: 'spare', random: this.random.fork('spare') });
    this.#failed = new Promise((_resolve, reject) => {
      this.#fail = reject;
    });
    this.#failed.catch(() => undefined);
    const ids = Array.from({ length: settings.members }, (_, at) => memberId(BigInt(at + 1)));
    this.#firstMembers = ids.map((id) => ({ id, name: '', peerUrls: [urlOf(id)], clientUrls: [], isLearner: false }));
    this.#lastKnown = this.#firstMembers;
  }

  /** Creates the machines of the first members. Called once, by the constructors of subclasses. */
  protected found(): void {
    for (const { id } of this.#firstMembers) this.nodeOf(id, false);
  }

  protected abstract makeNode(id: bigint, host: SimHost, joins: boolean): Node;

  protected abstract makeLife(node: Node, parts: MemberLifeParts): Life;

  /** Whether the error is no defect of the member, which ends and is started again. */
  protected abstract isExcused(node: Node, names: readonly string[], error: unknown): boolean;

  /** A member has logged a warning. */
  protected warned(_fields: object, _message: string): void {}

  /** Whether members may be lost at the end: no process is being superseded by another one. */
  get isSettled(): boolean {
    return this.nodes.every(({ superseded, alive }) => !superseded || alive === undefined);
  }

  /** Ends all faults of shared storage. */
  abstract healStorage(): void;

  /** Replaces the node's local copy by an empty one. Shared storage is kept. */
  abstract loseCopy(node: Node): void;

  readonly tell = (text: () => string): void => this.story.tell(text);

  get settings(): MemberSettings {
    return this.plan.settings;
  }

  get nowMs(): number {
    return this.scheduler.nowMs;
  }

  /** The nodes that were not removed, as far as they know, and whose member has not moved to another one. */
  get members(): readonly Node[] {
    return this.nodes.filter(({ removed, superseded }) => !removed && !superseded);
  }

  /** Starts members that some member lists and that were never started. */
  startAdded(): void {
    for (const { member } of this.serving) {
      for (const { id } of member?.member.cluster.members ?? []) {
        const node = this.nodeOf(id);
        if (node.life === undefined) this.startSoon(node);
      }
    }
  }

  /** The lives that take requests. */
  get serving(): readonly Life[] {
    return this.nodes.flatMap(({ serving }) => serving ?? []);
  }

  /** The lives that lead, as far as they know themselves. */
  get leaders(): readonly Life[] {
    return this.nodes.flatMap(({ alive }) => (alive?.leads === true ? [alive] : []));
  }

  get founding(): FounderOptions {
    const random = this.random.fork('users');
    const life = (): Served | undefined => (this.serving.length === 0 ? undefined : random.pick(this.serving));
    return { world: this, random, delay: (ms) => this.delay(ms), life, isOver: () => this.ending };
  }

  localFrom(life: Served): number {
    return life.face?.applied ?? 1;
  }

  /** The machine of this member, the newest one if there are several. Creates it at the first call. */
  nodeOf(id: bigint, joins = true): Node {
    const known = this.nodes.findLast((node) => node.id === id);
    if (known !== undefined) return known;
    const name = joins ? `joined ${this.nodes.length + 1 - this.settings.members}` : `m${id}`;
    return this.addNode(id, name, `host ${id}`, joins);
  }

  /** The machine on which this process runs. */
  nodeOfLife(life: MemberLife): Node {
    return this.nodes.find(({ host }) => host === life.process.host)!;
  }

  protected addNode(id: bigint, name: string, source: string, joins: boolean): Node {
    const { clockSkew, lateMsMax, turnMsMax } = this.settings;
    const random = this.random.fork(source);
    const host = new SimHost(this.scheduler, {
      name,
      random,
      rate: 1 + clockSkew * (2 * random.fraction() - 1),
      originMs: 1000 * random.fraction(),
      wallMs: 1_700_000_000_000 + Math.floor(10_000 * random.fraction()),
      lateMsMax,
      turnMsMax,
    });
    const node = this.makeNode(id, host, joins);
    node.before = !joins && id <= this.settings.membersBefore;
    this.nodes.push(node);
    return node;
  }

  /** Ends the run with an error. The first error is kept. */
  fail(error: unknown): void {
    this.#finding ??= error;
    this.#fail(error);
  }

  /** Runs the scheduler until the work is done, or until a finding. */
  async run<Value>(work: Promise<Value>): Promise<Value> {
    return await this.scheduler.run(Promise.race([work, this.#failed]));
  }

  delay(ms: number): Promise<void> {
    return new Promise((resolve) => void this.scheduler.after(ms, resolve));
  }

  /** Runs `work` and ends the run with an error that it throws. */
  guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.fail(error);
    }
  }

  /** Starts a life of the node, unless it lives, is no member any more, or the run is over. */
  start(node: Node): void {
    node.starting = false;
    if (node.alive !== undefined || node.removed || node.superseded || node.lost || this.over) return;
    const life: Life = this.makeLife(node, {
      id: node.id,
      host: node.host,
      random: this.random.fork(`life of ${node.name}`),
      settings: this.settings,
      network: this.network,
      logger: this.#loggerOf(node),
      firstMembers: node.joins ? undefined : this.#firstMembers,
      peers: node.joins ? this.#knownMembers() : this.#firstMembers,
      readPeers: () => Promise.resolve(this.#knownMembers()),
      hostOf: (id) => this.nodeOf(id).host,
      before: node.before,
      serviceOf: (process) => this.#serviceOf(process),
      mayRefuse: (peer, fault) => this.#mayRefuse(node.id, peer, fault),
      onAppending: (batch, seal) => {
        const attempt = attemptOf(batch, seal);
        if (!this.#sentMs.has(attempt)) this.#sentMs.set(attempt, this.nowMs);
      },
      onCompacted: () => undefined,
      onRemoved: () => {
        this.tell(() => `${node.name} is removed`);
        // Who lets a member go on alone removes the others, and they may hear of it.
        if (!this.removals.has(node.id) && !node.superseded)
          this.fail(new Finding('broken', `${node.name} leaves, and nobody has removed it`));
        node.removed = true;
        life.process.after(0, () => this.kill(node));
      },
      onFatal: (error) => this.#fatal(node, life, error),
    });
    node.life = life;
    this.tell(
      () =>
        `${node.name} starts for the ${life.process.generation}. time${node.before ? ', with the version before' : ''}`,
    );
    life.open().then(
      () => this.tell(() => `${node.name} serves`),
      (error: unknown) => this.#fatal(node, life, error),
    );
  }

  startSoon(node: Node): void {
    if (node.starting) return;
    node.starting = true;
    this.scheduler.after(this.random.fraction() * RESTART_MS_MAX, () => this.guarded(() => this.start(node)));
  }

  /** Ends the process immediately, as with SIGKILL. */
  kill(node: Node): void {
    const life = node.alive;
    if (life === undefined) return;
    life.process.kill();
    this.tell(() => `${node.name} is dead`);
    this.calls.died(life);
    for (const client of this.watchClients) if (client.life === life) this.moveAway(client);
  }

  /** Ends the client's stream if it is open. The client comes back to a node that serves then. */
  moveAway(client: WatchClient): void {
    client.leave();
    this.#comeBack(client);
  }

  #comeBack(client: WatchClient): void {
    this.scheduler.after(this.random.fraction() * COME_BACK_MS_MAX, () =>
      this.guarded(() => {
        if (client.life !== undefined) return;
        const { serving } = this;
        if (serving.length === 0) this.#comeBack(client);
        else this.connect(client, this.random.pick(serving));
      }),
    );
  }

  /** Connects the client when the process is scheduled. */
  connect(client: WatchClient, life: Life): void {
    client.choose(life);
    life.process.after(0, () => {
      if (client.life === life) client.connect(life);
    });
  }

  /** Calls `work` when this member's next seal is in the log. The member does not know of it yet. */
  onNextSeal(holder: bigint, work: () => void): void {
    this.#sealing.set(holder, work);
  }

  /** After this call, requests may fail without a defect of the cluster. */
  disturb(): void {
    this.#disturbed = true;
    this.troubled = true;
  }

  /** No fault is left, and all members know one leader: from now on every request must be served. */
  calm(): void {
    this.troubled = false;
    this.calmed = true;
  }

  /** Kills all processes, so that no work continues after the run. */
  end(): void {
    for (const { host } of this.nodes) host.process?.kill();
  }

  #fatal(node: Node, life: Life, error: unknown): void {
    if (!life.process.alive) return;
    this.tell(() => `${node.name} ends itself: ${String(error)}`);
    if (!this.isLiar(node) && !this.#isExcused(node, error)) {
      this.fail(new Finding('broken', `${node.name} ends: ${String(error)}`, { cause: error }));
      return;
    }
    this.kill(node);
    if (!node.removed && !node.superseded) this.startSoon(node);
  }

  #isExcused(node: Node, error: unknown): boolean {
    const names: string[] = [];
    for (let cause = error; cause instanceof Error; cause = cause.cause) names.push(cause.name);
    return this.isExcused(node, names, error);
  }

  #serviceOf(process: SimProcess): ReturnType<MemberLife['links']['serviceOf']> {
    const node = this.nodes.find(({ host }) => host === process.host);
    const life = node?.alive;
    const service = life?.process === process ? life.service : undefined;
    if (service === undefined || node === undefined || !this.isLiar(node)) return service;
    return this.liar?.serviceOf(service);
  }

  isLiar({ id }: { readonly id: bigint }): boolean {
    return this.liar?.id === id;
  }

  /** The liar's process does not know what it has said, so what it sends and gets may not fit. */
  #mayRefuse(from: bigint, to: bigint, fault: string): boolean {
    if (this.liar === undefined) return false;
    return this.isLiar({ id: from }) || this.isLiar({ id: to }) || (this.liar.claims && OF_TWO_LEADERS.test(fault));
  }

  #knownMembers(): readonly ElectedMember[] {
    const member = this.serving.find(({ leads }) => leads) ?? this.serving[0];
    const known = member?.member?.member.cluster.members ?? [];
    if (known.length > 0) this.#lastKnown = known.map((one) => ({ ...one, id: memberId(one.id) }));
    return this.#lastKnown;
  }

  /** The batch is in the log. */
  protected durable(batch: LogBatch, seal: Seal): void {
    const attempt = attemptOf(batch, seal);
    this.logJudge.durable(batch, this.#sentMs.get(attempt) ?? this.nowMs);
    this.#sentMs.delete(attempt);
  }

  /** The seal is in the log. Its holder does not know of it yet. */
  protected sealed({ epoch, holder }: Seal): void {
    if (!this.#sealedMs.has(epoch)) this.#sealedMs.set(epoch, this.nowMs);
    this.tell(() => `  sealed: epoch ${epoch} by m${holder}`);
    const waiting = this.#sealing.get(holder);
    this.#sealing.delete(holder);
    waiting?.();
  }

  #excuses(_call: Call, life: Served, aborted: boolean): Excuses {
    const { settings } = this;
    return {
      aborted,
      // The connections of a liar end.
      leaderless: this.troubled || (!this.calmed && this.liar?.id === (life as Partial<MemberLife>).id),
      stopping: life.stopping,
      failingReads: false,
      forgotten: life.forgotten === true,
      narrow: settings.waitingBytesMax < 1 << 20,
      quota: settings.unlike,
      impatient: settings.imageHoldMaxMs < 60_000,
      slow: false,
      lied: this.liar !== undefined,
      timeoutMs: settings.requestTimeoutMs,
      nowMs: this.nowMs,
    };
  }

  get forwardedMsMax(): number {
    return this.settings.requestTimeoutMs;
  }

  get #links() {
    const { networkDelayMsMax, networkLost, networkTwice } = this.plan.settings;
    return { delayMsMin: 0.05, delayMsMax: networkDelayMsMax, lost: networkLost, twice: networkTwice };
  }

  #leads(epoch: unknown): void {
    const sealedMs = typeof epoch === 'number' ? this.#sealedMs.get(epoch) : undefined;
    if (sealedMs !== undefined) this.judge.leases.takenOver(sealedMs, this.nowMs);
    // No request could be answered before the first leader.
    if (!this.#disturbed) this.troubled = false;
  }

  #loggerOf(node: Node): Logger {
    const tell = (level: string, fields: object, message: string): void =>
      this.tell(() => `  ${node.name} ${level}: ${message} ${textOf(fields)}`);
    return {
      debug: () => undefined,
      info: (fields, message) => {
        tell('log', fields, message);
        if (message === 'leads') this.guarded(() => this.#leads((fields as { epoch?: unknown }).epoch));
      },
      warn: (fields, message) => {
        tell('warning', fields, message);
        this.warned(fields, message);
      },
      error: (fields, message) => {
        tell('error', fields, message);
        const broken =
          !this.isLiar(node) &&
          Object.values(fields).some(
            (field) =>
              field instanceof AssertionError ||
              /AssertionError|TypeError|ReferenceError|RangeError/.test(String(field)),
          );
        const refuses = message === 'refused a batch of the leader' && !this.nodes.some((one) => this.isLiar(one));
        if (broken || refuses) this.fail(new Finding('broken', `${node.name} logged: ${message} ${textOf(fields)}`));
      },
    };
  }
}

/** Where one member has claimed an election, another may have won it. */
const OF_TWO_LEADERS = /^(?:a second leader|a request to campaign)/;

const attemptOf = ({ first }: LogBatch, { epoch, holder }: Seal): string => `${first}/${epoch}/${holder}`;

const textOf = (fields: object): string =>
  Object.entries(fields)
    .map(([name, value]) => `${name}=${String(value)}`)
    .join(' ');
