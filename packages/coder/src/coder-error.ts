/** The bytes are damaged: cut off, of an unknown kind, or out of range. Decoders never guess a value. */
export class CoderError extends Error {
  override readonly name = 'CoderError';

  /** `what` names the message or record; `at` is the offset in its bytes. */
  constructor(what: string, fault: string, at: number) {
    super(`cannot decode ${what}: ${fault} at byte ${at}`);
  }
}
