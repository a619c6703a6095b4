import { Prng } from '@engram/sim';
import type { FaultKind, RequestKind, ScenarioKind, Step } from '../plan/plan.ts';
import { UserScenario } from '../users/user-scenarios.ts';
import { isUserScenario, type UserScenarioKind } from '../users/user-weights.ts';
import { FaultStep, STALL_MS_MAX } from './fault-steps.ts';
import type { Life } from './life.ts';
import { CROWDED, RequestStep, type ScenarioRequestKind } from './request-steps.ts';
import type { World } from './world.ts';

/** Number of requests about a lease whose keys move. */
const LOOKS = 25;

/**
 * Several requests, each sent when the previous one has taken effect. Other steps of the run happen meanwhile. The
 * requests do nothing if no node serves.
 */
export class ScenarioStep {
  readonly #world: World;
  readonly #life: Life;
  readonly #step: Step;
  readonly #random: Prng;

  private constructor(world: World, life: Life, step: Step) {
    this.#step = step;
    this.#world = world;
    this.#life = life;
    this.#random = new Prng(step.seed);
  }

  static run(world: World, step: Step, kind: ScenarioKind): void {
    const { life } = world;
    if (life === undefined || !life.process.alive || world.ending) return;
    world.tell(() => `#${step.id} ${kind}`);
    const scenario = new ScenarioStep(world, life, step);
    if (isUserScenario(kind)) scenario.#ofUsers(kind);
    else scenario[kind]();
  }

  #ofUsers(kind: UserScenarioKind): void {
    const world = this.#world;
    const after = (ms: number, work: () => void): void => {
      world.scheduler.after(ms, () => {
        if (!world.ending) world.guarded(work);
      });
    };
    const stallReads = (ms: number): void => this.#stallReads(ms);
    UserScenario.run({ world, step: this.#step, leader: this.#life, asked: this.#life, after, stallReads }, kind);
  }

  /**
   * Reads take long, and the versions that they read are superseded, compacted and dropped meanwhile. The readers are a
   * transaction that reads the key that it changes, and a watch from the compacted revision on.
   */
  'late-reads'(): void {
    const { history } = this.#world;
    const ms = this.#random.pick([20, 200, 1000]) * (0.5 + this.#random.fraction());
    const before = history.revision;
    this.#stallReads(ms);
    this.#send('lock');
    this.#when(
      () => history.revision > before,
      () => {
        const { revision } = history;
        this.#send('compact-newest');
        this.#when(
          () => history.compactRevision === revision,
          () => {
            this.#stallReads(ms + 2 * this.#random.fraction() * ms);
            this.#send('watch-from-compaction');
          },
        );
      },
    );
  }

  /** An append takes longer than a request may, so requests are answered before they take effect. */
  'late-append'(): void {
    const { requestTimeoutMs } = this.#world.settings;
    this.#stallAppends(Math.min(STALL_MS_MAX, requestTimeoutMs * (0.5 + 2 * this.#random.fraction())));
    for (const kind of ['lock', 'compact-newest', 'lease-grant', 'alarm-off', 'put'] as const)
      if (this.#random.chance(0.7)) this.#send(kind);
  }

  /** Many keys leave a lease in one revision, and meanwhile clients ask for the lease's keys. */
  'moving-keys'(): void {
    const { history } = this.#world;
    this.#send('grant-crowded');
    this.#when(
      () => history.leaseAt(CROWDED, history.next) !== undefined,
      () => {
        const before = history.revision;
        this.#send('crowd');
        this.#when(
          () => history.revision > before,
          () => {
            const crowded = history.revision;
            this.#send('scatter');
            this.#when(
              () => history.revision > crowded,
              () => this.#look(LOOKS),
            );
          },
        );
      },
    );
  }

  #look(left: number): void {
    if (left === 0 || this.#world.ending) return;
    this.#send('look-at-crowded');
    this.#life.process.after(this.#random.fraction() * this.#world.settings.turnMsMax, () => this.#look(left - 1));
  }

  /**
   * A compaction takes effect while a long transaction is evaluated that has read versions which the compaction drops.
   */
  'old-reads'(): void {
    this.#send('compact-newest');
    this.#send('read-old');
  }

  /** Writes, a stop and the end of the leadership, all at the same time. */
  'stop-deposed'(): void {
    for (let left = this.#random.between(1, 4); left > 0; left -= 1) this.#send('put');
    for (const fault of this.#random.shuffled(['stop', 'step-down'] as const)) this.#fail(fault);
  }

  /** Writes wait for the log and a long one is decided above them, when the leadership ends. */
  'step-down-in-long-write'(): void {
    this.#stallAppends(this.#random.pick([20, 200]) * (0.5 + this.#random.fraction()));
    for (let left = this.#random.between(1, 4); left > 0; left -= 1) this.#send('put');
    this.#send(this.#random.pick(['crowd', 'scatter', 'read-old'] as const));
    this.#life.process.after(this.#random.fraction() * Math.max(1, this.#world.settings.turnMsMax), () =>
      this.#world.guarded(() => this.#fail('step-down')),
    );
  }

  /**
   * The end of a lease whose time is over takes longer than a request may. Meanwhile clients grant the lease again, and renew it.
   */
  'grant-behind-end'(): void {
    const { history } = this.#world;
    const there = (): number | undefined => history.leaseAt(CROWDED, history.next)?.ttlSeconds;
    this.#send('revoke-crowded');
    this.#when(
      () => there() === undefined,
      () => {
        this.#send('grant-brief');
        this.#when(
          () => there() !== undefined,
          () => this.#life.process.after(1000 * there()! - 50 * this.#random.fraction(), () => this.#regrant()),
        );
      },
    );
  }

  #regrant(): void {
    if (this.#world.ending) return;
    const ms = Math.min(STALL_MS_MAX, this.#world.settings.requestTimeoutMs * (1.2 + 2 * this.#random.fraction()));
    this.#stallAppends(ms);
    for (const kind of ['grant-brief', 'grant-brief', 'renew-crowded', 'renew-crowded', 'renew-crowded'] as const) {
      this.#life.process.after(50 + ms * this.#random.fraction(), () => this.#world.guarded(() => this.#send(kind)));
    }
  }

  #send(kind: ScenarioRequestKind | RequestKind): void {
    RequestStep.run(this.#world, this.#life, { id: this.#step.id, seed: this.#random.uint32() }, kind);
  }

  #fail(kind: FaultKind): void {
    const step = { ...this.#step, seed: this.#random.uint32() };
    this.#life.process.after(0, () => this.#world.guarded(() => FaultStep.run(this.#world, step, kind)));
  }

  #stallReads(ms: number): void {
    this.#stall('get-many', ms);
  }

  #stallAppends(ms: number): void {
    this.#stall('append', ms);
  }

  #stall(operation: 'get-many' | 'append', ms: number): void {
    this.#world.tell(() => `  ${operation} stalls for ${ms.toFixed(0)} ms`);
    this.#life.faults.stall(operation, ms);
  }

  /** Calls `then` once `isSo` is true, unless it stays false for all `looks`. */
  #when(isSo: () => boolean, then: () => void, looks = 200): void {
    if (looks === 0 || this.#world.ending) return;
    const next = (): void => (isSo() ? then() : this.#when(isSo, then, looks - 1));
    this.#life.process.after(this.#random.fraction(), next);
  }
}
