/** An error of the system, as Node gives them: `code` says which. */
export class DiskError extends Error {
  override readonly name = 'DiskError';
  readonly code: string;

  constructor(code: string, what: string) {
    super(`${code}: ${what}`);
    this.code = code;
  }
}
