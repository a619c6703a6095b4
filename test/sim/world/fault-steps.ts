import { epoch } from '@engram/core';
import { diskOperations, Prng } from '@engram/sim';
import { Finding } from '../judge/finding.ts';
import type { FaultKind, Step } from '../plan/plan.ts';
import type { Life } from './life.ts';
import type { World } from './world.ts';

/** Longer than any stall of storage. */
const STOP_MS_MAX = 60_000;
export const STALL_MS_MAX = 20_000;
/** Less than the time limit of a read of history, because one read may meet several stalls. */
const SLOW_READ_MS = 4000;

/** One fault of the node. Does nothing if the node is dead or the run is ending. */
export class FaultStep {
  readonly #world: World;
  readonly #life: Life;
  readonly #random: Prng;

  private constructor(world: World, life: Life, step: Step) {
    this.#world = world;
    this.#life = life;
    this.#random = new Prng(step.seed);
  }

  static run(world: World, step: Step, kind: FaultKind): void {
    const { life } = world;
    if (life === undefined || !life.process.alive || world.ending) return;
    world.tell(() => `#${step.id} ${kind}`);
    new FaultStep(world, life, step)[kind]();
  }

  crash(): void {
    this.#world.kill(this.#random.chance(0.5));
    this.#world.startSoon();
  }

  /** Now, within the next append, or at one of the next calls of the disk. */
  'power-loss'(): void {
    const { segments } = this.#world;
    const dice = this.#random.below(10);
    const steps = this.#random.below(this.#random.pick([3, 12, 40, 200]));
    if (segments === undefined || dice < 3) {
      this.#world.kill(this.#random.chance(0.5), 'power');
      this.#world.startSoon();
    } else if (dice < 6) segments.armCrashAtAppend({ kind: 'power', steps: this.#random.below(8) });
    else if (dice < 8) segments.armCrash({ kind: 'power', steps });
    else segments.armCrash({ kind: 'power', manifestWrites: this.#random.below(3), steps: this.#random.below(12) });
  }

  /** The process ends within an append, and power is lost soon after the next start: what it has settled must last. */
  'crash-twice'(): void {
    const { segments } = this.#world;
    if (segments === undefined) {
      this.crash();
      return;
    }
    const kind = this.#random.pick(['kill', 'power'] as const);
    segments.armCrashAtAppend({ kind, steps: this.#random.below(8) });
    this.#world.losePowerAgain();
  }

  /** The disk refuses a call, or has no room any more. */
  'disk-fault'(): void {
    if (this.#world.segments === undefined) {
      this['append-fault']();
      return;
    }
    const operation = this.#random.pick(['write-durable', 'write-durable', 'sync', ...diskOperations] as const);
    const code = this.#random.pick(['EIO', 'EIO', 'ENOSPC'] as const);
    this.#world.failDisk(this.#life, { operation, code, after: this.#random.below(this.#random.pick([1, 5, 30])) });
  }

  /** SIGTERM: the node ends its work and leaves the storage complete. */
  stop(): void {
    const { face, process } = this.#life;
    if (face === undefined || process.paused || this.#life.stopping) return;
    stopNode(this.#world, this.#life);
  }

  pause(): void {
    const { process } = this.#life;
    if (process.paused) return;
    const ms = this.#random.pick([1, 50, 3000, 15_000]) * this.#random.fraction();
    if (ms > SLOW_READ_MS) this.#life.slowReads = true;
    this.#life.wasPaused = true;
    process.pause();
    this.#world.scheduler.after(ms, () => {
      this.#world.tell(() => 'the node goes on');
      process.resume();
    });
  }

  stall(): void {
    const operation = this.#random.pick(['append', 'append', 'get-many', 'drop', 'save-checkpoint', 'seal'] as const);
    const ms = this.#random.pick([5, 50, 500, 9000, STALL_MS_MAX]) * this.#random.fraction();
    this.#world.tell(() => `  ${operation} stalls for ${ms.toFixed(0)} ms`);
    if (operation === 'get-many' && ms > SLOW_READ_MS) this.#life.slowReads = true;
    this.#life.faults.stall(operation, ms);
  }

  'append-fault'(): void {
    if (this.#world.segments !== undefined) {
      this['disk-fault']();
      return;
    }
    const fault = this.#random.pick([
      'uncertain-there',
      'uncertain-lost',
      'uncertain-late',
      'failed-there',
      'failed-lost',
      'fenced',
      'fenced',
    ] as const);
    this.#world.tell(() => `  the next append is ${fault}`);
    this.#life.leaderless = true;
    this.#life.faults.failAppend(fault);
  }

  'read-fault'(): void {
    const operation = this.#random.pick([
      'read',
      'get-many',
      'get-many',
      'save-checkpoint',
      'load-checkpoint',
    ] as const);
    const times = this.#random.between(1, 3);
    this.#world.tell(() => `  ${operation} fails ${times} times`);
    this.#life.failingReads = true;
    this.#life.faults.failNext(operation, times);
  }

  'wall-jump'(): void {
    this.#world.host.jumpWall(this.#random.pick([-1, 1]) * this.#random.pick([1, 1000, 86_400_000]));
  }

  'step-down'(): void {
    const { face } = this.#life;
    if (face?.leads !== true || this.#life.process.paused) return;
    this.#life.leaderless = true;
    let down = false;
    face.stepDown().then(
      () => {
        down = true;
      },
      (error: unknown) => {
        if (!this.#life.diskFails) this.#world.fail(new Finding('broken', `stepping down failed: ${String(error)}`));
      },
    );
    this.#mustEnd('stepping down', () => down);
    this.#world.leadSoon(this.#life);
  }

  /** Another node takes over the log, writes nothing, and ends. */
  rival(): void {
    // A disk is used by one node at a time.
    if (this.#world.segments !== undefined) return;
    this.#life.leaderless = true;
    this.#world.disk.sealed = { epoch: epoch(this.#world.nextEpoch()), holder: 99n };
    this.#world.disk.onItsWay = undefined;
    this.#world.tell(() => '  another node has sealed the log');
    // A node that writes nothing does not notice this by itself.
    this.#life.process.after(500 + 500 * this.#random.fraction(), () => {
      const { face } = this.#life;
      if (face?.leads === true && !this.#life.stopping) {
        this.#life.leaderless = true;
        void face.stepDown();
        this.#world.leadSoon(this.#life);
      }
    });
  }

  #mustEnd(what: string, ended: () => boolean): void {
    const life = this.#life;
    this.#world.scheduler.after(STOP_MS_MAX, () => {
      if (life.process.alive && !ended()) this.#world.fail(new Finding('hang', `${what} has not ended`));
    });
  }
}

/** Stops the node as SIGTERM does, and starts it again. */
export function stopNode(world: World, life: Life): void {
  life.stopping = true;
  life.leaderless = true;
  let stopped = false;
  life.face!.dispose().then(
    () => {
      stopped = true;
      world.tell(() => 'node has stopped');
      world.kill(false, world.random.pick(['kill', 'power'] as const));
      if (!world.ending) world.startSoon();
    },
    (error: unknown) => {
      if (!life.diskFails) {
        world.fail(new Finding('broken', `the stop failed: ${String(error)}`, { cause: error }));
        return;
      }
      world.kill(false);
      world.startSoon();
    },
  );
  world.scheduler.after(STOP_MS_MAX, () => {
    if (life.process.alive && !stopped) world.fail(new Finding('hang', 'the node has not stopped'));
  });
}
