/** The code that node gives an error of the system (`ENOENT`) or of a library (`LEVEL_LOCKED`); undefined without one. */
export function systemErrorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
