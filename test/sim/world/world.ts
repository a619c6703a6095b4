import { assert, AssertionError, type Logger, logPosition } from '@engram/core';
import { type CrashKind, type DiskFault, diskOperations, Prng, Scheduler, SimHost } from '@engram/sim';
import { type LoggedWrite, StoreHistory } from '@engram/sim/model';
import { type LogBatch, MemoryDisk, StorageFencedError } from '@engram/storage';
import { Finding } from '../judge/finding.ts';
import { type Call, type Excuses, isCorrupt, Judge } from '../judge/judge.ts';
import { MemoryNodeDisk, type NodeDisk } from '../disk/node-disk.ts';
import { SegmentDisk } from '../disk/segment-disk.ts';
import type { Plan } from '../plan/plan.ts';
import { Calls } from './calls.ts';
import { MEMBER_ID } from './face.ts';
import type { Clients } from './clients.ts';
import { Life } from './life.ts';
import type { Served } from './served.ts';
import { LogJudge } from './log-judge.ts';
import { Story } from './story.ts';
import { WatchClient } from './watch-client.ts';
import { Credentials } from '../users/credentials.ts';
import type { FounderOptions } from '../users/founder.ts';
import { WatchAccess } from '../users/watch-access.ts';

const RESTART_MS_MAX = 300;
const NOSPACE = 1;
/** An operation of the storage is several steps of the disk. */
const STEPS_OF_AN_OPERATION = 8;
/** Operations of storage that a request may wait for, one after another: a batch each for the writes before it, and reads. */
const WAITING_OPERATIONS = 100;
/** Below a quota it may wait for all garbage to be given back: a checkpoint, and segments that are copied with rests between. */
const RECLAIMING_OPERATIONS = 400;

/** A node on simulated ports, its clients, and the judge of their answers. */
export class World implements Clients {
  readonly plan: Plan;
  readonly scheduler: Scheduler;
  readonly random: Prng;
  readonly history = new StoreHistory();
  readonly credentials = new Credentials();
  readonly judge: Judge;
  readonly story: Story;
  readonly calls: Calls;
  readonly log: LogJudge;
  readonly forwardedMsMax = 0;
  readonly watchClients: readonly WatchClient[];
  /** What the log has acknowledged, and what is kept of it. */
  readonly disk = new MemoryDisk('disk');
  /** The disk below the storage. Undefined if the storage is in memory, and is `disk`. */
  readonly segments: SegmentDisk | undefined;
  readonly host: SimHost;
  /** The host of a second node beside the main one. */
  readonly spareHost: SimHost;
  life: Life | undefined;
  /** The revision of the newest compaction that was completed in this life. */
  compacted = -1;
  /** True once no more faults occur. A node that stops is then not restarted by itself. */
  ending = false;
  readonly #nodeDisk: NodeDisk;
  /** The next life on a simulated disk loses power soon. */
  #powerGoes = false;
  #epoch = 0;
  /** The world ends a process itself. Otherwise it ends where the disk loses power. */
  #killing = false;
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
          credentials: this.credentials,
          access: new WatchAccess(this.judge.access, this.history),
        }),
    );
    this.segments = settings.disk === 'segments' ? this.#segmentDisk() : undefined;
    this.#nodeDisk = this.segments ?? new MemoryNodeDisk(this.disk);
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

  get founding(): FounderOptions {
    const random = this.random.fork('users');
    return { world: this, random, delay: (ms) => this.delay(ms), life: () => this.life, isOver: () => this.ending };
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
    this.#arrived();
    const { settings } = this.plan;
    const life: Life = new Life({
      host: this.host,
      disk: this.#nodeDisk,
      random: this.random,
      settings,
      logger: this.logger,
      onMounted: () => {
        if (this.history.next < this.disk.next) this.tell(() => 'the disk has an append that was under way');
        this.#arrived();
      },
      onAppending: ({ first }) => this.#sentMs.set(first, this.nowMs),
      onDurable: (batch) => this.guarded(() => this.#durable(batch)),
      onDeposed: (end) => {
        this.tell(() => `node is deposed: ${end.kind}`);
        life.leaderless = true;
        if (end.kind === 'uncertain') this.endSoon(life);
        else this.leadSoon(life);
      },
      onFatal: (error) => {
        if (life.diskFails) this.endSoon(life);
        else this.fail(new Finding('broken', `the node ends: ${error.message}`, { cause: error }));
      },
      onCompacted: (compactRevision) => {
        this.compacted = compactRevision;
      },
    });
    this.life = life;
    this.compacted = -1;
    if (this.segments !== undefined) this.#armStart(life, this.segments);
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
    if (error instanceof Finding) {
      this.fail(error);
      return;
    }
    // Another node may have sealed the log first.
    if (!life.failingReads && !life.diskFails && !(error instanceof StorageFencedError)) {
      this.fail(new Finding('state', `the node does not start: ${String(error)}`, { cause: error }));
      return;
    }
    this.kill(false);
    this.startSoon();
  }

  /** The next life loses power within its first append, or about then. */
  losePowerAgain(): void {
    this.#powerGoes = true;
  }

  /** Kills the node, as with SIGKILL, or as where the machine loses power. */
  kill(keepAppend: boolean, kind: CrashKind = 'kill'): void {
    const { life } = this;
    if (life === undefined || !life.process.alive) return;
    this.#killing = true;
    life.kill(kind, keepAppend);
    this.#killing = false;
    this.#died(life, kind);
  }

  #died(life: Life, kind: CrashKind): void {
    this.tell(() => `node is dead${kind === 'power' ? ', without power' : ''}`);
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
    this.#killing = true;
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

  #segmentDisk(): SegmentDisk {
    const { storageDelayMsMax, segmentBytes } = this.settings;
    return new SegmentDisk({
      random: this.random.fork('disk'),
      promised: this.disk,
      stepMsMax: storageDelayMsMax / STEPS_OF_AN_OPERATION,
      segmentBytes,
      logger: this.logger,
      onFinding: (finding) => this.fail(finding),
    });
  }

  /** Draws where the disk loses power in this life, or fails: often within the start. */
  #armStart(life: Life, disk: SegmentDisk): void {
    const { random, settings } = this;
    life.process.atEnd(() => {
      if (this.#killing) return;
      this.#died(life, 'power');
      this.startSoon();
    });
    if (this.ending) return;
    if (this.#powerGoes) {
      this.#powerGoes = false;
      this.tell(() => '  power will be lost again');
      if (random.chance(0.7)) disk.armCrashAtAppend({ kind: 'power', steps: random.below(8) });
      else disk.armCrash({ kind: 'power', steps: random.below(random.pick([60, 250])) });
      return;
    }
    if (!random.chance(settings.startCrashes)) return;
    if (random.chance(0.2)) {
      this.failDisk(life, { operation: random.pick(diskOperations), code: 'EIO', after: random.below(10) });
      return;
    }
    const kind = random.chance(0.8) ? 'power' : 'kill';
    const manifestWrites = random.below(5);
    if (random.chance(0.4)) disk.armCrash({ kind, manifestWrites, steps: random.below(12) });
    else disk.armCrash({ kind, steps: random.below(random.pick([15, 60, 250, 1500])) });
  }

  /** An operation of the disk will fail. */
  failDisk(life: Life, fault: DiskFault): void {
    life.diskFails = true;
    life.failingReads = true;
    this.tell(() => `  ${fault.operation} will fail with ${fault.code} after ${fault.after}`);
    this.segments?.armFault(fault);
  }

  /** Judges what was found durable, and was not known to be. */
  #arrived(): void {
    while (this.history.next < this.disk.next) this.#durable(this.disk.batch(logPosition(this.history.next)));
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
    const leaderless = life.leaderless || life.diskFails || life.stopping || call.startMs <= life.leadsSinceMs;
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
        life.diskFails ||
        life.faults.hasStalled ||
        settings.requestTimeoutMs < Math.max(2000, this.#waitingOperations * settings.storageDelayMsMax),
      timeoutMs: settings.requestTimeoutMs,
      nowMs: this.nowMs,
    };
  }

  get #waitingOperations(): number {
    return this.settings.quotaBytes > 0 ? RECLAIMING_OPERATIONS : WAITING_OPERATIONS;
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
