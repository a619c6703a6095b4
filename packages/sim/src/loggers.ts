import type { Logger } from '@engram/core';

/** For tests and benchmarks that do not look at the log. */
export const quiet: Logger = { debug() {}, info() {}, warn() {}, error() {} };

/** Keeps the messages of warnings and errors. */
export class TestLogger implements Logger {
  readonly warnings: string[] = [];

  debug(_fields: object, _message: string): void {}

  info(): void {}

  warn(_fields: object, message: string): void {
    this.warnings.push(message);
  }

  error(_fields: object, message: string): void {
    this.warnings.push(message);
  }
}
