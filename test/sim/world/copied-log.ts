import { logPosition } from '@engram/core';
import type { StoreHistory } from '@engram/sim/model';
import type { LogBatch, MemoryDisk } from '@engram/storage';
import { Finding } from '../judge/finding.ts';
import { Judge } from '../judge/judge.ts';
import { textOf } from '../judge/write-judge.ts';
import type { World } from './world.ts';

/**
 * The disk of a second node, and its log. They begin as copies of the first node's and then diverge. The second node
 * may only write compactions and ends of leases, each after the lease's full TTL.
 */
export class CopiedLog {
  readonly disk: MemoryDisk;
  readonly history: StoreHistory;
  readonly #world: World;
  readonly #judge: Judge;
  readonly #sentMs = new Map<number, number>();

  constructor(world: World) {
    this.#world = world;
    this.disk = world.disk.copy('copy');
    this.history = world.history.copy();
    this.#judge = new Judge(this.history);
    // The first node may not have heard of records that have just become durable.
    while (this.history.next < this.disk.next) {
      const { first, records } = this.disk.batch(logPosition(this.history.next));
      this.#judge.logged(first, records);
    }
    const { nowMs } = world;
    this.#judge.leases.takenOver(nowMs, nowMs);
  }

  readonly delay = (ms: number): Promise<void> => this.#world.delay(ms);

  appending({ first }: LogBatch): void {
    this.#sentMs.set(first, this.#world.nowMs);
  }

  durable({ first, records }: LogBatch): void {
    for (const write of this.#judge.logged(first, records)) {
      const { mark, next } = write;
      this.#world.tell(() => `  durable in the copy: ${textOf(write)}`);
      if (mark?.kind === 'lease-revoke') {
        const { granted } = this.history.leases.find(({ id, revoked }) => id === mark.id && revoked === next)!;
        this.#judge.leases.expired(granted, mark.id, this.#sentMs.get(first)!);
      } else if (mark?.kind !== 'compact') {
        throw new Finding('ghost', `nobody asked the second node for ${textOf(write)}`);
      }
    }
  }
}
