import { status } from '@grpc/grpc-js';

/** A call that has failed: the status of the member, or of the way to it. */
export class RpcError extends Error {
  override readonly name = 'RpcError';
  /** gRPC's code. */
  readonly code: number;

  constructor(code: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

export const deadlineExceeded = (what: string): RpcError =>
  new RpcError(status.DEADLINE_EXCEEDED, `context deadline exceeded: ${what}`);

/** Whatever grpc-js gives to a callback or throws. */
export function toRpcError(error: unknown): RpcError {
  if (error instanceof RpcError) return error;
  const { code, details, message } = error as { code?: unknown; details?: unknown; message?: unknown };
  const text = typeof details === 'string' && details !== '' ? details : String(message ?? error);
  // grpc-js ends its reason so where it has no note.
  const reason = text.replace(/\.? Resolution note: $/, '');
  return new RpcError(typeof code === 'number' ? code : status.UNKNOWN, reason, { cause: error });
}

export const isRpcError = (error: unknown, code: keyof typeof status): error is RpcError =>
  error instanceof RpcError && error.code === status[code];
