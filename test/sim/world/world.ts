import { assert, AssertionError, type Logger, logPosition } from '@engram/core';
import { Prng, Scheduler, SimHost } from '@engram/sim';
import { type LoggedWrite, StoreHistory } from '@engram/sim/model';
import { type LogBatch, MemoryDisk, StorageFencedError } from '@engram/storage';
import { Finding } from '../judge/finding.ts';
import { type Call, type Excuses, isCorrupt, Judge } from '../judge/judge.ts';
import type { Plan } from '../plan/plan.ts';
import { Calls } from './calls.ts';
import { MEMBER_ID } from './face.ts';
import type { Clients } from './clients.ts';
import { Life } from './life.ts';
import type { Served } from './served.ts';
import { LogJudge } from './log-judge.ts';
import { Story } from './story.ts';
import { WatchClient } from './watch-client.ts';

const RESTART_MS_MAX = 300;
const NOSPACE = 1;
/** Operations of storage that a request may wait for, one after another: a batch each for the writes before it, and reads. */
const WAITING_OPERATIONS = 100;

/** A node on simulated ports, its clients, and the judge of their answers. */
export class World implements Clients {
  readonly plan: Plan;
  readonly scheduler: Scheduler;
  readonly random: Prng;
  readonly history = new StoreHistory();
  readonly judge: Judge;
  readonly story: Story;
  readonly calls: Calls;
  readonly log: LogJudge;
  readonly forwardedMsMax = 0;
  readonly watchClients: readonly WatchClient[];
  readonly disk = new MemoryDisk('disk');
  readonly host: SimHost;
  /** The host of a second node beside the main one. */
  readonly spareHost: SimHost;
  life: Life | undefined;
  /** The revision of the newest compaction that was completed in this life. */
  compacted = -1;
  /** True once no more faults occur. A node that stops is then not restarted by itself. */
  ending = false;
  #epoch = 0;
  #finding: unknown;
  #fail!: (error: unknown) => void;
  readonly #failed: Promise<never>;
  /** The time at which the batch that begins at a position was sent to the log, on the node's clock. */
  readonly #sentMs = new Map<number, number>();

  constructor(plan: Plan, told: boolean, line?: (line: string) => void) {
    const { settings } = plan;
    this.plan = plan;
    this.random = new Prng(plan.seed).fork('world');
    this.scheduler = new Scheduler({ random: this.random.fork('order') });
    this.host = new SimHost(this.scheduler, {
      name: 'node',
      random: this.random.fork('host'),
      rate: settings.clockRate,
      originMs: 1000,
      wallMs: 1_700_000_000_000,
      lateMsMax: settings.lateMsMax,
      turnMsMax: settings.turnMsMax,
    });
    this.spareHost = new SimHost(this.scheduler, {
      ...this.host.options,
      name: 'spare',
      random: this.random.fork('spare'),
    });
    this.story = new Story(() => this.scheduler.nowMs, told, line);
    this.judge = new Judge(this.history);
    const tell = this.tell;
    const onFinding = (error: unknown): void => this.fail(error);
    this.calls = new Calls({
      judge: this.judge,
      tell,
      onFinding,
      nowMs: () => this.nowMs,
      excuses: (call, life, aborted) => this.#excuses(call, life, aborted),
    });
    const { judge, calls, history } = this;
    this.log = new LogJudge({ judge, calls, history, tell, isItsOwn: (write) => this.#isItsOwn(write) });
    this.watchClients = Array.from(
      { length: settings.watchers },
      (_, at) =>
        new WatchClient({
          name: `watcher ${at}`,
          random: this.random.fork(`watcher ${at}`),
          history: this.history,
          refuses: [0, 0.05, 0.3][at % 3]!,
          fullMsMax: [1, 30, 1000][at % 3]!,
          tell,
          onFinding,
          onSeen: (revision) => this.judge.told(revision),
        }),
    );
    this.#failed = new Promise((_resolve, reject) => {
      this.#fail = reject;
    });
    this.#failed.catch(() => undefined);
  }

  readonly tell = (text: () => string): void => this.story.tell(text);

  /** Ends the run with an error. The first error is kept. */
  fail(error: unknown): void {
    this.#finding ??= error;
    this.#fail(error);
  }

  get settings(): Plan['settings'] {
    return this.plan.settings;
  }

  /** A single node must answer with everything that any client was told. */
  localFrom(): number {
    return this.judge.acknowledged;
  }

  get failed(): boolean {
    return this.#finding !== undefined;
  }

  /** Runs the scheduler until the work is done, or until a finding. */
  async run<Value>(work: Promise<Value>): Promise<Value> {
    return await this.scheduler.run(Promise.race([work, this.#failed]));
  }

  /** Resolves after this time. */
  delay(ms: number): Promise<void> {
    return new Promise((resolve) => void this.scheduler.after(ms, resolve));
  }

  /** The time on the node's clock, by which leases are judged. */
  get nowMs(): number {
    return this.host.options.originMs! + this.scheduler.nowMs * this.host.options.rate!;
  }

  nextEpoch(): number {
    this.#epoch = Math.max(this.#epoch, this.disk.sealed.epoch) + 1;
    return this.#epoch;
  }

  /** Starts a life of the node. Does nothing if the node lives. */
  start(): void {
    if (this.life?.process.alive === true) return;
    // An append that was under way when the last life ended has arrived or is lost by now.
    while (this.history.next < this.disk.next) this.#durable(this.disk.batch(logPosition(this.history.next)));
    const { settings } = this.plan;
    const life: Life = new Life({
      host: this.host,
      disk: this.disk,
      random: this.random,
      settings,
      logger: this.logger,
      onAppending: ({ first }) => this.#sentMs.set(first, this.nowMs),
      onDurable: (batch) => this.guarded(() => this.#durable(batch)),
      onDeposed: (end) => {
        this.tell(() => `node is deposed: ${end.kind}`);
        life.leaderless = true;
        if (end.kind === 'uncertain') this.endSoon(life);
        else this.leadSoon(life);
      },
      onFatal: (error) => this.fail(new Finding('broken', `the node ends: ${error.message}`, { cause: error })),
      onCompacted: (compactRevision) => {
        this.compacted = compactRevision;
      },
    });
    this.life = life;
    this.compacted = -1;
    const epoch = this.nextEpoch();
    this.tell(() => `node starts for the ${life.process.generation}. time, with epoch ${epoch}`);
    const beginMs = this.nowMs;
    life.open(epoch).then(
      () => this.guarded(() => this.#opened(life, beginMs)),
      (error: unknown) => this.#openFailed(life, error),
    );
  }

  #opened(life: Life, beginMs: number): void {
    this.judge.leases.takenOver(beginMs, this.nowMs);
    this.tell(() => `node leads at revision ${life.face?.revision}`);
    for (const client of this.watchClients)
      life.process.after(this.random.fraction() * RESTART_MS_MAX, () => client.connect(life));
  }

  #openFailed(life: Life, error: unknown): void {
    if (!life.process.alive) return;
    this.tell(() => `node does not start: ${String(error)}`);
    // Another node may have sealed the log first.
    if (!life.failingReads && !(error instanceof StorageFencedError)) {
      this.fail(new Finding('state', `the node does not start: ${String(error)}`, { cause: error }));
      return;
    }
    this.kill(false);
    this.startSoon();
  }

  /** Kills the node, as with SIGKILL. */
  kill(keepAppend: boolean): void {
    const { life } = this;
    if (life === undefined || !life.process.alive) return;
    life.kill(keepAppend);
    this.tell(() => 'node is dead');
    this.calls.died(life);
    for (const client of this.watchClients) client.disconnected();
  }

  startSoon(): void {
    this.scheduler.after(this.random.fraction() * RESTART_MS_MAX, () => this.guarded(() => this.start()));
  }

  /** The node ends itself, because the outcome of an append is unknown. */
  endSoon(life: Life): void {
    life.process.after(this.random.fraction() * 10, () => {
      this.kill(false);
      this.startSoon();
    });
  }

  /** The node has lost or given up its leadership. It tries to lead again, unless it is dead by then. */
  leadSoon(life: Life): void {
    const attempt = (): void => {
      const { face } = life;
      if (face === undefined || life.stopping || face.leads) return;
      const epoch = this.nextEpoch();
      const beginMs = this.nowMs;
      this.tell(() => `node tries to lead in epoch ${epoch}`);
      face.lead(epoch).then(
        () =>
          this.guarded(() => {
            if (!life.process.alive || !face.leads) return;
            life.leads();
            this.judge.leases.takenOver(beginMs, this.nowMs);
            this.tell(() => `node leads again at revision ${face.revision}`);
          }),
        (error: unknown) => {
          this.tell(() => `node does not lead: ${String(error)}`);
          if (life.process.alive && !life.stopping) this.leadSoon(life);
        },
      );
    };
    life.process.after(this.random.fraction() * RESTART_MS_MAX, attempt);
  }

  /** Kills all processes, so that no work continues after the run. */
  end(): void {
    this.life?.process.kill();
    this.spareHost.process?.kill();
  }

  /** Runs `work` and ends the run with an error that it throws. */
  guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.fail(error);
    }
  }

  #durable(batch: LogBatch): void {
    const sentMs = this.#sentMs.get(batch.first) ?? this.nowMs;
    this.#sentMs.delete(batch.first);
    this.log.durable(batch, sentMs);
  }

  /** Whether the store may have written this by itself: the alarm NOSPACE, if its space is bounded. */
  #isItsOwn({ mark }: LoggedWrite): boolean {
    const bounded = this.plan.settings.quotaBytes > 0;
    return bounded && mark?.kind === 'alarm' && mark.alarm === NOSPACE && mark.active && mark.memberId === MEMBER_ID;
  }

  #excuses(call: Call, served: Served, aborted: boolean): Excuses {
    const { settings } = this.plan;
    const { life } = this;
    assert(life === served, 'an answer of a life that has ended');
    const leaderless = life.leaderless || life.stopping || call.startMs <= life.leadsSinceMs;
    return {
      aborted,
      leaderless,
      // The node ends itself if the outcome of an append is unknown.
      stopping: leaderless,
      failingReads: life.failingReads,
      forgotten: false,
      narrow: settings.waitingBytesMax < 1 << 20,
      quota: settings.quotaBytes > 0,
      impatient: settings.imageHoldMaxMs < 60_000,
      lied: false,
      // Under CORRUPT no lease ends, and whoever asks for one whose time is over waits for its end.
      slow:
        isCorrupt(this.history) ||
        life.wasPaused ||
        life.faults.hasStalled ||
        settings.requestTimeoutMs < Math.max(2000, WAITING_OPERATIONS * settings.storageDelayMsMax),
      timeoutMs: settings.requestTimeoutMs,
      nowMs: this.nowMs,
    };
  }

  readonly logger: Logger = {
    debug: () => undefined,
    info: (fields, message) => this.tell(() => `  log: ${message} ${JSON.stringify(fields)}`),
    warn: (fields, message) => this.tell(() => `  warning: ${message} ${JSON.stringify(fields)}`),
    error: (fields, message) => {
      this.tell(() => `  error: ${message} ${JSON.stringify(fields)}`);
      if (
        Object.values(fields).some((field) => field instanceof AssertionError || /AssertionError/.test(String(field)))
      )
        this.fail(new Finding('broken', `logged: ${message} ${JSON.stringify(fields)}`));
    },
  };
}
