import { GrpcCode, type Span } from '@engram/core';
import { readUint32 } from '@engram/http2';
import { type CallContext, type CallUser, type RpcStatus, CANCELLED, DEADLINE_EXCEEDED, SUCCEEDED } from '@engram/wire';
import type { Timed } from '../deadline-wheel.ts';
import { Stream } from '../h2/stream.ts';
import type { StreamHost } from '../h2/stream-host.ts';
import { CALL_ENDED, messageTooLarge } from '../status.ts';
import type { AnswerForm } from './answer-frames.ts';
import type { CallConnection } from './call-connection.ts';
import type { GrpcHead } from './grpc-head.ts';
import { inflate } from './gzip.ts';
import { MESSAGE_PREFIX_BYTES, MessageAssembler } from './message-assembler.ts';
import type { MessageStream } from './message-writer.ts';

/** A frame may hold a thousand messages of a stream. The clock is read after this many. */
const MESSAGES_BETWEEN_LOOKS = 16;

const tooMuchHeld: RpcStatus = {
  code: GrpcCode.RESOURCE_EXHAUSTED,
  message: 'grpc: too many unfinished messages on one connection',
};
/** grpc-go's texts (rpc_util.go, checkRecvPayload; io.ErrUnexpectedEOF). */
const compressedWithoutEncoding: RpcStatus = {
  code: GrpcCode.INTERNAL,
  message: 'grpc: compressed flag set with identity or empty encoding',
};

/** A stream that carries a gRPC call: splits DATA into messages, enforces the deadline and tells the handler of the end. */
export abstract class GrpcStream extends Stream implements CallContext, MessageStream, Timed {
  deadlineMs = 0;
  wheelPrevious: Timed | undefined;
  wheelNext: Timed | undefined;

  headSent = false;
  readonly head: GrpcHead;
  span: Span | undefined = undefined;
  user: CallUser | undefined = undefined;

  #startMs = -1;
  #handled = false;
  #assembler: MessageAssembler | undefined;
  #abort: AbortController | undefined;
  #cancelled = false;
  #status: RpcStatus = SUCCEEDED;

  constructor(id: number, head: GrpcHead) {
    const { connection, timeoutMs } = head;
    super(id, connection.host.sender.initialWindow);
    this.head = head;
    if (timeoutMs < 0) return;
    this.deadlineMs = connection.host.receivedMs + timeoutMs;
    connection.server.deadlines.add(this);
  }

  /** grpc-go ignores content-length, so it is not enforced. */
  readonly contentLength = -1;

  metadata(name: string): string | undefined {
    if (name.endsWith('-bin')) return undefined;
    const { request } = this.head;
    return name === ':authority' ? request.authority : request.find(name);
  }

  get answerForm(): AnswerForm | undefined {
    return this.head.answerForm;
  }

  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController();
      if (this.#cancelled) this.#abort.abort(CALL_ENDED);
    }
    return this.#abort.signal;
  }

  get peer(): string {
    return this.host.peer;
  }

  get client(): object {
    return this.host.client;
  }

  get method(): string {
    return this.head.path;
  }

  get commonName(): string | undefined {
    return this.host.commonName;
  }

  data(bytes: Buffer, start: number, end: number): number {
    let at = start;
    for (let messages = 1; at < end && !this.finished && !this.satisfied; messages += 1) {
      at =
        this.#assembler === undefined
          ? this.#wholeMessage(bytes, at, end)
          : this.#continue(this.#assembler, bytes, at, end);
      if (messages % MESSAGES_BETWEEN_LOOKS === 0 && this.host.sliceSpent) return at;
    }
    return end;
  }

  halfClosed(): void {
    if (this.finished) return;
    // grpc-go treats an end of the stream inside a message's prefix like an end between messages.
    if (this.#assembler?.prefixKnown === true) this.fail({ code: this.cutShortCode, message: 'unexpected EOF' });
    else this.requestEnded();
  }

  aborted(): void {
    this.release();
    if (this.finished) return;
    this.#cancelled = true;
    this.handled(CANCELLED);
    this.#abort?.abort(CALL_ENDED);
  }

  expired(): void {
    if (this.finished) return;
    this.host.sender.forget(this);
    this.cutOff(DEADLINE_EXCEEDED);
  }

  /** Ends the call while its handler is at work: the handler's signal aborts. */
  protected cutOff(status: RpcStatus): void {
    if (this.finished) return;
    this.#cancelled = true;
    this.fail(status);
    this.#abort?.abort(CALL_ENDED);
  }

  /** The call has its outcome. Later input is ignored. */
  get finished(): boolean {
    return this.#handled;
  }

  /** The status code of a call whose last message is incomplete. */
  protected abstract readonly cutShortCode: number;
  /** Whether the call ignores all further input. */
  protected get satisfied(): boolean {
    return false;
  }
  /** Called with one message, still as gzip if `compressed` is true. The bytes never change. */
  protected abstract message(request: Buffer, compressed: boolean): void;
  /** The client has sent its last message. */
  protected abstract requestEnded(): void;
  /** The call has its outcome, from the handler, the client or the deadline. Called once. */
  protected ended(): void {}

  protected started(): void {
    const { hooks, path } = this.head;
    const { watch } = this.connection.server;
    this.#startMs = this.host.lookMs;
    watch.began(path);
    hooks?.begin?.(this);
  }

  /**
   * To be called after the synchronous part of a handler, which had the event loop since the call started. Returns the
   * current time.
   */
  protected watchHandled(): number {
    const { watch, clock } = this.connection.server;
    const nowMs = clock.nowMs();
    const ms = nowMs - this.#startMs;
    this.host.worked(ms, nowMs);
    if (ms > watch.budgetMs) watch.stretched('handle', ms, this.head.path);
    return nowMs;
  }

  protected received(bytes: number): void {
    this.head.hooks?.received?.(this, bytes);
  }

  protected sentMessage(bytes: number): void {
    this.head.hooks?.sent?.(this, bytes);
  }

  /**
   * The inflated message; undefined if it is invalid, and then the call has failed. Few bytes may become much work, so its
   * time counts for the slice as that of a handler.
   */
  protected inflated(compressed: Buffer): Buffer | undefined {
    const { messageMaxBytes, clock, watch } = this.connection.server;
    const startMs = clock.nowMs();
    const result = inflate(compressed, messageMaxBytes);
    const nowMs = clock.nowMs();
    this.host.worked(nowMs - startMs, nowMs);
    if (nowMs - startMs > watch.budgetMs) watch.stretched('inflate', nowMs - startMs, this.head.path);
    if ('message' in result) return result.message;
    this.fail(result.fault);
    return undefined;
  }

  /** Records the outcome. False if there was one before. `nowMs`: the current time, if the caller has just read the clock. */
  protected handled(status: RpcStatus, nowMs?: number): boolean {
    if (this.#handled) return false;
    this.#handled = true;
    const { deadlines, clock } = this.connection.server;
    if (this.wheelNext !== undefined) deadlines.remove(this);
    if (this.#startMs >= 0) this.head.hooks?.end?.(this, status, (nowMs ?? clock.nowMs()) - this.#startMs);
    this.ended();
    return true;
  }

  /** Ends the call with a status, unless it has already ended. */
  protected fail(status: RpcStatus): void {
    if (!this.handled(status)) return;
    this.release();
    if (this.localClosed) return;
    this.#status = status;
    this.host.sender.finish(this);
  }

  writeEnd(): void {
    this.connection.messages.status(this, this.#status, 200);
  }

  protected get connection(): CallConnection {
    return this.head.connection;
  }

  protected get host(): StreamHost {
    return this.head.connection.host;
  }

  /**
   * Counts the bytes that are held of the request in addition to its head. The call fails if the connection holds too
   * much.
   */
  protected holdRequest(bytes: number): void {
    const { receive } = this.host;
    receive.hold(this, this.head.request.bytes + bytes);
    if (bytes > 0 && receive.overdrawn) this.fail(tooMuchHeld);
  }

  /** Drops the received part of an incomplete message. */
  protected release(): void {
    if (this.#assembler === undefined) return;
    this.#assembler = undefined;
    this.holdRequest(0);
    this.missingBytes = 0;
    this.host.receive.longDone(this);
  }

  /** The usual case: a message that begins and ends in one frame is a view of the chunk. */
  #wholeMessage(bytes: Buffer, start: number, end: number): number {
    const first = start + MESSAGE_PREFIX_BYTES;
    if (first <= end) {
      const length = readUint32(bytes, start + 1);
      if (!this.#accepts(bytes[start]!, length)) return end;
      if (first + length <= end) {
        this.message(bytes.subarray(first, first + length), bytes[start] === 1);
        return first + length;
      }
    }
    this.#assembler = new MessageAssembler();
    return this.#continue(this.#assembler, bytes, start, end);
  }

  #continue(assembler: MessageAssembler, bytes: Buffer, start: number, end: number): number {
    let at = start;
    if (!assembler.prefixKnown) {
      at = assembler.takePrefix(bytes, at, end);
      if (!assembler.prefixKnown) return at;
      if (!this.#accepts(assembler.compressedFlag, assembler.length)) return end;
    }
    at = assembler.take(bytes, at, end);
    this.missingBytes = assembler.missing;
    if (assembler.missing > 0) {
      this.holdRequest(assembler.held);
      return at;
    }
    this.release();
    this.message(assembler.message, assembler.compressedFlag === 1);
    return at;
  }

  #accepts(compressedFlag: number, length: number): boolean {
    const max = this.connection.server.messageMaxBytes;
    const known = compressedFlag === 0 || (compressedFlag === 1 && this.answerForm?.gzip === true);
    if (known && length <= max) return true;
    if (known) this.fail(messageTooLarge(length, max));
    else if (compressedFlag === 1) this.fail(compressedWithoutEncoding);
    else this.fail({ code: GrpcCode.INTERNAL, message: `grpc: received unexpected payload format ${compressedFlag}` });
    return false;
  }
}
