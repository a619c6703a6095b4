/** The code of an error of the system (`ENOENT`) or of a library (`LEVEL_LOCKED`); undefined if it has none. */
export function systemErrorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
