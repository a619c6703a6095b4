import type { CallHead, CallHooks } from '@engram/wire';
import type { RequestHead } from '../h2/request-head.ts';
import type { AnswerForm } from './answer-frames.ts';
import type { CallConnection, ServedMethod } from './call-connection.ts';

/** State that calls with equal headers on one connection share, so that a call keeps no copy of it. */
export class GrpcHead implements CallHead {
  readonly connection: CallConnection;
  readonly request: RequestHead;
  readonly path: string;
  readonly hooks: CallHooks | undefined;
  /** -1 if the call has no timeout. */
  readonly timeoutMs: number;
  readonly answerForm: AnswerForm | undefined;
  admitted: unknown;
  credentials: unknown;
  trace: CallHead['trace'];

  constructor(
    connection: CallConnection,
    request: RequestHead,
    { path, method }: ServedMethod,
    timeoutMs: number,
    answerForm: AnswerForm | undefined,
  ) {
    this.connection = connection;
    this.request = request;
    this.path = path;
    this.hooks = method.hooks;
    this.timeoutMs = timeoutMs;
    this.answerForm = answerForm;
  }
}
