import type { AuthState } from '@engram/auth';
import type { LeaseId, LogPosition, Revision } from '@engram/core';
import { endOf } from '@engram/storage';
import type { BeforeBatch, ReadBatch } from './batch-reader.ts';
import type { ReplicatedState } from './replicated-state.ts';

/** What the state will be when the batches that were followed have taken effect, as far as the next batch depends on it. */
export class AheadOfState {
  readonly #state: Pick<ReplicatedState, 'revision' | 'lessor' | 'auth'>;
  #next: LogPosition | undefined;
  #revision: Revision | undefined;
  #auth: AuthState | undefined;
  readonly #leases = new Map<LeaseId, boolean>();

  constructor(state: Pick<ReplicatedState, 'revision' | 'lessor' | 'auth'>) {
    this.#state = state;
  }

  add({ batch, revision, leases, auth }: ReadBatch): void {
    this.#next = endOf(batch);
    this.#revision = revision;
    this.#auth = auth;
    for (const [id, lives] of leases) this.#leases.set(id, lives);
  }

  /** Undefined if records before `next` have not taken effect that were not given to `add`. */
  before(next: LogPosition, applied: LogPosition): BeforeBatch | undefined {
    if (applied === next) {
      this.#next = next;
      this.#revision = undefined;
      this.#auth = undefined;
      this.#leases.clear();
    }
    if (this.#next !== next) return undefined;
    const { revision, lessor, auth } = this.#state;
    return {
      revision: this.#revision ?? revision,
      hasLease: (id) => this.#leases.get(id) ?? lessor.has(id),
      auth: this.#auth ?? auth.state,
    };
  }
}
