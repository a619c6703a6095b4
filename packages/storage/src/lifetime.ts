import { assert } from '@engram/core';
import { StorageClosedError } from './storage-error.ts';

/** Refuses calls that begin after the end, and lets the end wait for calls that began before it. */
export class Lifetime {
  readonly #name: string;
  #underWay = 0;
  #end: StorageClosedError | undefined;
  #drained = (): void => {};

  /** `name` says in errors which storage it was. */
  constructor(name: string) {
    this.#name = name;
  }

  get ended(): boolean {
    return this.#end !== undefined;
  }

  /** The reason why calls are refused. Undefined before the end. */
  get closed(): StorageClosedError | undefined {
    return this.#end;
  }

  /** Throws StorageClosedError after the end. */
  check(): void {
    if (this.#end !== undefined) throw new StorageClosedError(this.#end.message, { cause: this.#end });
  }

  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    this.check();
    this.#underWay += 1;
    try {
      return await work();
    } finally {
      this.#underWay -= 1;
      if (this.#underWay === 0) this.#drained();
    }
  }

  /** Refuses new calls. Resolves when no call is under way. `how`: "is closed", "has crashed". */
  async end(how: string): Promise<void> {
    this.#end ??= new StorageClosedError(`${this.#name} ${how}`);
    if (this.#underWay === 0) return;
    const before = this.#drained;
    await new Promise<void>((resolve) => {
      this.#drained = () => {
        before();
        resolve();
      };
    });
    assert(this.#underWay === 0, 'something began after the end');
  }
}
