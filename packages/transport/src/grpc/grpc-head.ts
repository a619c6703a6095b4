import type { CallHead } from '@engram/wire';
import type { RequestHead } from '../h2/request-head.ts';
import type { MethodObserver } from '../serve-options.ts';
import type { AnswerForm } from './answer-frames.ts';
import type { CallConnection, ServedMethod } from './call-connection.ts';

/** What calls with equal headers on one connection share: a call keeps nothing of its own that its head says. */
export class GrpcHead implements CallHead {
  readonly connection: CallConnection;
  readonly request: RequestHead;
  readonly path: string;
  readonly observer: MethodObserver | undefined;
  /** -1 without one. */
  readonly timeoutMs: number;
  readonly answerForm: AnswerForm | undefined;
  admitted: unknown;

  constructor(
    connection: CallConnection,
    request: RequestHead,
    { path, observer }: ServedMethod,
    timeoutMs: number,
    answerForm: AnswerForm | undefined,
  ) {
    this.connection = connection;
    this.request = request;
    this.path = path;
    this.observer = observer;
    this.timeoutMs = timeoutMs;
    this.answerForm = answerForm;
  }
}
