/** What a run can find. */
export type FindingKind =
  /** An answer that the log does not explain. */
  | 'answer'
  /** A refusal that the log does not explain. */
  | 'refusal'
  /** An error that no client may see, or that nothing has caused. */
  | 'error'
  /** The log holds what breaks its rules. */
  | 'log'
  /** The log holds what nobody asked for, or was told had not happened. */
  | 'ghost'
  | 'watch'
  | 'lease'
  /** Something that had to end has not. */
  | 'hang'
  /** The living state, or the one after a start, is not what the log says. */
  | 'state'
  /** Something is held that nobody needs. */
  | 'leak'
  /** A broken invariant, or an error that nobody handled. */
  | 'broken';

/** A run has shown a defect, of the store or of the simulator. */
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
