import type { RecoveryProgress } from '@engram/backend';

/** `opening`: connects to storage. `joining`: the state is recovered, and no leader has answered yet. */
export type StartPhase = 'opening' | RecoveryProgress['phase'] | 'joining' | 'serving';

export const startPhases: readonly StartPhase[] = ['opening', 'image', 'checkpoint', 'log', 'joining', 'serving'];

type Kind = RecoveryProgress['phase'];

/** The progress of a node's start. */
export class StartProgress {
  #phase: StartPhase = 'opening';
  readonly #read = new Map<Kind, RecoveryProgress>();

  get phase(): StartPhase {
    return this.#phase;
  }

  /** What was read in each phase. If the start began again, what the last attempt has read. */
  get read(): ReadonlyMap<Kind, RecoveryProgress> {
    return this.#read;
  }

  recovering(progress: RecoveryProgress): void {
    this.#phase = progress.phase;
    this.#read.set(progress.phase, progress);
  }

  joining(): void {
    this.#phase = 'joining';
  }

  serving(): void {
    this.#phase = 'serving';
  }

  /** One line. */
  toString(): string {
    if (this.#phase === 'opening' || this.#phase === 'joining' || this.#phase === 'serving') return this.#phase;
    const progress = this.#read.get(this.#phase);
    if (progress === undefined) return this.#phase;
    const { phase, done, of, bytes, bytesOf } = progress;
    const outOf = (some: number, all: number | undefined): string =>
      all === undefined ? `${some}` : `${some} of ${all}`;
    const unit = phase === 'log' ? 'records' : 'chunks';
    return `reading the ${phase}: ${outOf(done, of)} ${unit}, ${outOf(bytes, bytesOf)} bytes`;
  }
}
