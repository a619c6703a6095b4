/** How far the rebuild of the state has come. */
export interface RecoveryProgress {
  /** The source that is being read: the image that nodes share, this node's own checkpoint, or the log after it. */
  readonly phase: 'image' | 'checkpoint' | 'log';
  /** Chunks of an image or a checkpoint, or records of the log, that have been read. */
  readonly done: number;
  /** The total, undefined if unknown. If the log grows meanwhile, the total that was known at the time. */
  readonly of: number | undefined;
  readonly bytes: number;
  readonly bytesOf: number | undefined;
}

/** Called with each chunk and each batch. It must only take note and return. */
export type OnRecovery = (progress: RecoveryProgress) => void;
