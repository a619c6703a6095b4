/** How far the state is rebuilt. */
export interface RecoveryProgress {
  /** What is read: the image that nodes share, a checkpoint of this node's own, or the log behind it. */
  readonly phase: 'image' | 'checkpoint' | 'log';
  /** Chunks of an image or a checkpoint, records of the log. */
  readonly done: number;
  /** All there are, where that is known; of a log that grows meanwhile, those there were. */
  readonly of: number | undefined;
  readonly bytes: number;
  readonly bytesOf: number | undefined;
}

/** Called with each chunk and each batch: it takes note and returns. */
export type OnRecovery = (progress: RecoveryProgress) => void;
