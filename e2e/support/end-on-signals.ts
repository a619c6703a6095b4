/** Ends this process by SIGINT and SIGTERM as by any other exit, so that what it has started ends with it. */
export function endOnSignals(): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
}
