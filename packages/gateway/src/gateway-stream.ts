import {
  dropMessage,
  type Message,
  messageBytes,
  type RpcStatus,
  type StreamCall,
  type StreamHandler,
  DEADLINE_EXCEEDED,
  STOPPED,
  SUCCEEDED,
  statusOfError,
} from '@engram/wire';
import { GatewayCall } from './gateway-call.ts';
import { heldBytes } from './message-chunks.ts';

/** The handler is told when its queued bytes fall to this after they were above it. */
const LOW_MARK_BYTES = 64 * 1024;

interface Waiting {
  readonly message: Message;
  readonly bytes: number;
  readonly heldBytes: number;
}

/**
 * The call of a method with a stream of answers. Messages wait here, encoded, until the client has taken those before them: their
 * JSON is made only then.
 */
export class GatewayStream extends GatewayCall implements StreamCall {
  #handler: StreamHandler | undefined;
  #opened = false;
  #queue: Waiting[] = [];
  #queuedBytes = 0;
  #heldBytes = 0;
  /** Of the messages that `take` has given and `took` has not settled. */
  #taken: Waiting[] = [];
  #above = false;
  #status: RpcStatus | undefined;
  #wake: (() => void) | undefined;
  #roomMade: (() => void) | undefined;

  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  get crowded(): boolean {
    if (this.request.answerBytes.mayGrow) return false;
    this.request.answerBytes.refused();
    this.#above = true;
    return true;
  }

  /** The outcome, once the server has ended the call. Messages before it may still wait. */
  get status(): RpcStatus | undefined {
    return this.#status;
  }

  /** No message waits. */
  get idle(): boolean {
    return this.#queue.length === 0;
  }

  /** Whether there was a request to call a handler with. */
  get opened(): boolean {
    return this.#opened;
  }

  /** The handler is called from now on. A call that has ended is not begun: its hooks were told of its end, and would wait for another. */
  open(handler: () => StreamHandler): void {
    if (this.#status !== undefined || this.ended) return;
    this.#opened = true;
    this.#guard(() => {
      this.#handler = handler();
    });
    if (this.#status !== undefined || this.ended) this.#close();
  }

  message(bytes: Uint8Array): void {
    if (this.#status !== undefined || this.ended) return;
    this.received(bytes.length);
    this.#guard(() => this.#handler?.message(bytes));
  }

  halfClosed(): void {
    if (this.#status !== undefined || this.ended) return;
    this.#guard(() => this.#handler?.halfClosed());
  }

  send(message: Message): void {
    if (this.#status !== undefined || this.ended) {
      dropMessage(message);
      return;
    }
    const bytes = messageBytes(message);
    this.sent(bytes);
    const waiting = { message, bytes, heldBytes: heldBytes(message) };
    this.#queue.push(waiting);
    this.#queuedBytes += bytes;
    this.#heldBytes += waiting.heldBytes;
    this.hold(this.#heldBytes);
    if (this.#queuedBytes > LOW_MARK_BYTES) this.#above = true;
    this.#wake?.();
  }

  override end(status: RpcStatus = SUCCEEDED): void {
    if (this.#status !== undefined || this.ended) return;
    this.#status = status;
    this.handled(status);
    this.#close();
    this.#wake?.();
    this.#roomMade?.();
  }

  /** The server stops. */
  stop(): void {
    this.end(STOPPED);
  }

  /** Resolves when a message waits or the call has its outcome. */
  async ready(): Promise<void> {
    while (this.idle && this.#status === undefined && !this.ended) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    this.#wake = undefined;
  }

  /** The next message, which belongs to the caller. It counts until `took`. */
  take(): Message | undefined {
    const waiting = this.#queue.shift();
    if (waiting !== undefined) this.#taken.push(waiting);
    return waiting?.message;
  }

  /** The client has taken all that `take` gave. */
  took(): void {
    for (const { bytes, heldBytes: held } of this.#taken) {
      this.#queuedBytes -= bytes;
      this.#heldBytes -= held;
    }
    this.#taken = [];
    this.hold(this.#heldBytes);
    if (!this.#above || this.#queuedBytes > LOW_MARK_BYTES) return;
    this.#above = false;
    this.#roomMade?.();
    if (this.#status === undefined && !this.ended) this.#guard(() => this.#handler?.drained());
  }

  /** Resolves when few answers wait, or when the call has its outcome. */
  async room(): Promise<void> {
    while (this.#queuedBytes > LOW_MARK_BYTES && this.#status === undefined && !this.ended) {
      await new Promise<void>((resolve) => {
        this.#roomMade = resolve;
      });
    }
    this.#roomMade = undefined;
  }

  /** All is sent, or nobody wants the rest: then the client is as good as gone, also for hooks and handler. */
  close(): void {
    if (this.#status === undefined && !this.ended) this.closed();
    else this.release();
  }

  protected override release(): void {
    if (this.ended) return;
    super.release();
    for (const { message } of this.#queue) dropMessage(message);
    this.#queue = [];
    this.#close();
    this.#wake?.();
    this.#roomMade?.();
  }

  protected override expire(): void {
    this.end(DEADLINE_EXCEEDED);
    super.expire();
  }

  /** Deferred: the handler itself may have ended the call, and it gets one event at a time. */
  #close(): void {
    const handler = this.#handler;
    if (handler === undefined) return;
    this.#handler = undefined;
    queueMicrotask(() => {
      try {
        handler.closed();
      } catch (error) {
        statusOfError(error, 'stream');
      }
    });
  }

  #guard(call: () => void): void {
    try {
      call();
    } catch (error) {
      this.end(statusOfError(error, 'stream'));
    }
  }
}
