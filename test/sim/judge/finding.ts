/** The kinds of findings of a run. */
export type FindingKind =
  /** An answer that the log does not explain. */
  | 'answer'
  /** A refusal that the log does not explain. */
  | 'refusal'
  /** An error that no client may see, or that has no cause. */
  | 'error'
  /** The log breaks its rules. */
  | 'log'
  /** The log has a write that no client requested, or of which a client was told that it did not happen. */
  | 'ghost'
  | 'watch'
  /** A caller was permitted or refused what the users and roles of the log do not. */
  | 'access'
  | 'lease'
  /** Work that had to end has not ended. */
  | 'hang'
  /** The state of a running node, or of one after a start, is not the state of the log. */
  | 'state'
  /** A resource is held without need. */
  | 'leak'
  /** A member that lies has done more than it may. */
  | 'lie'
  /** A broken invariant, or an unhandled error. */
  | 'broken';

/** A defect that a run has shown, of the store or of the simulator. */
export class Finding extends Error {
  override readonly name = 'Finding';
  readonly kind: FindingKind;

  constructor(kind: FindingKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

export function expectThat(condition: boolean, kind: FindingKind, message: () => string): asserts condition {
  if (!condition) throw new Finding(kind, message());
}
