import { FaultError } from '@engram/core';

/** Why the program ends, with the exit codes of etcdctl (pkg/cobrautl/error.go). */
export const exitCodes = {
  /** What was asked for failed. */
  failed: 1,
  'bad-connection': 2,
  'invalid-input': 3,
  'bad-feature': 4,
  interrupted: 5,
  'input-output': 6,
  'bad-arguments': 128,
} as const;

export type CtlFault = keyof typeof exitCodes;

/** Ends the program. The message is for the operator. */
export class CtlError extends FaultError<CtlFault> {
  override readonly name = 'CtlError';

  get exitCode(): number {
    return exitCodes[this.fault];
  }
}

export const badArguments = (message: string): CtlError => new CtlError('bad-arguments', message);

/** The text of whatever was thrown. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
