import type { Clock } from '@engram/core';
import { Loop, type Task } from '@engram/loop';

/** Keeps the slices of one stage until the test gives them. */
export class HeldLoop extends Loop {
  readonly slices: (() => void)[] = [];
  held: string | undefined;

  constructor(clock: Clock, held?: string) {
    super({ clock });
    this.held = held;
  }

  override later(task: Task, resume: () => void): void {
    if (task.stage === this.held) this.slices.push(resume);
    else super.later(task, resume);
  }
}
