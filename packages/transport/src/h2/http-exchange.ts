import { ErrorCode, type RpcStatus } from '@engram/wire';
import type { Admissible } from './admission.ts';
import { splitTarget } from '../http1.ts';
import type { HttpRequest, HttpResponse } from '../serve-options.ts';
import { CALL_ENDED } from '../status.ts';
import { BATCH_MAX_BYTES, UNFINISHED_MAX_BYTES } from './limits.ts';
import type { RequestHead } from './request-head.ts';
import { Stream } from './stream.ts';
import type { StreamHost } from './stream-host.ts';

/** What an answer says of an HTTP/1.1 connection has no place in HTTP/2 (RFC 9113 §8.2.2). */
const connectionHeaders = new Set(['connection', 'keep-alive', 'transfer-encoding', 'upgrade']);

/** What a piece of a body takes beside its bytes: a body that comes byte by byte weighs more than it says. */
const PIECE_BYTES = 256;

/** A plain HTTP request over HTTP/2. */
export class HttpExchange extends Stream implements Admissible {
  override readonly counted = true;
  readonly #host: StreamHost;
  readonly #head: RequestHead;
  /** Made when a handler asks for its signal: a connection's end must not cost by all it has asked. */
  #gone: AbortController | undefined;
  #isGone = false;
  #body: Buffer[] = [];
  /** What the body holds, until its handler is through. */
  #heldBytes = 0;
  #serving = false;
  #wake: (() => void) | undefined;

  constructor(id: number, host: StreamHost, head: RequestHead) {
    super(id, host.sender.initialWindow);
    this.#host = host;
    this.#head = head;
  }

  get contentLength(): number {
    return this.#head.contentLength;
  }

  data(bytes: Buffer, start: number, end: number): void {
    if (this.receivedBytes > this.#host.server.bodyMaxBytes) {
      this.#forgetBody();
      return;
    }
    this.#body.push(Buffer.from(bytes.subarray(start, end)));
    this.#hold(end - start + PIECE_BYTES);
    if (this.#host.receive.unfinishedBytes > UNFINISHED_MAX_BYTES) {
      this.#host.reset(this, ErrorCode.ENHANCE_YOUR_CALM);
    }
  }

  /** Admitted like a call: who resets it before its answer still has it running, and who does not read gets no more. */
  halfClosed(): void {
    this.#host.admission.admit(this);
  }

  readonly compressed = false;

  get finished(): boolean {
    return this.#isGone;
  }

  start(): void {
    const { admission } = this.#host;
    const bytes = this.#heldBytes;
    admission.entered(bytes);
    void this.#serve().then(() => admission.left(bytes));
  }

  aborted(): void {
    // A handler that runs still has it.
    if (!this.#serving) this.#forgetBody();
    this.#isGone = true;
    this.#gone?.abort(CALL_ENDED);
    this.#wake?.();
  }

  override sent(): void {
    if (!this.congested) this.#wake?.();
  }

  override get congested(): boolean {
    return (this.queue?.bytes ?? 0) + this.batchBytes + this.flyingBytes > BATCH_MAX_BYTES;
  }

  async #serve(): Promise<void> {
    const { server } = this.#host;
    this.#serving = true;
    try {
      const tooLong = this.receivedBytes > server.bodyMaxBytes;
      await this.#answer(tooLong ? { status: 413, headers: {}, body: '' } : await server.http(this.#request()));
    } catch (error) {
      if (this.#isGone) return;
      server.logger.error({ error, path: this.#head.path }, 'HTTP handler failed');
      if (!this.headSent) await this.#answer({ status: 500, headers: {}, body: 'internal server error\n' });
      else this.#host.sender.finish(this, { kind: 'data' });
    } finally {
      this.#forgetBody();
    }
  }

  #hold(bytes: number): void {
    this.#heldBytes += bytes;
    this.#host.receive.unfinishedBytes += bytes;
  }

  #forgetBody(): void {
    this.#body = [];
    this.#hold(-this.#heldBytes);
  }

  #request(): HttpRequest {
    const { path, query } = splitTarget(this.#head.path);
    const headers: Record<string, string | undefined> = {};
    if (this.#head.authority !== '') headers['host'] = this.#head.authority;
    for (const { name, value } of this.#head.fields) {
      const before = headers[name];
      headers[name] = before === undefined ? value : `${before}, ${value}`;
    }
    const { peer, secure, commonName } = this.#host;
    const body = Buffer.concat(this.#body);
    this.#body = [];
    const signal = (): AbortSignal => this.#signal();
    return {
      method: this.#head.method,
      path,
      query,
      headers,
      body,
      peer,
      secure,
      commonName,
      get signal() {
        return signal();
      },
    };
  }

  #signal(): AbortSignal {
    if (this.#gone === undefined) {
      this.#gone = new AbortController();
      if (this.#isGone) this.#gone.abort(CALL_ENDED);
    }
    return this.#gone.signal;
  }

  async #answer({ status, headers, body }: HttpResponse): Promise<void> {
    if (this.localClosed) return;
    const { sender } = this.#host;
    const kept = Object.entries(headers).filter(([name]) => !connectionHeaders.has(name.toLowerCase()));
    this.headSent = true;
    sender.control(sender.frames.http(this.id, status, Object.fromEntries(kept), false));
    if (this.#head.method !== 'HEAD') {
      if (typeof body === 'string') sender.data(this, Buffer.from(body));
      else if (body instanceof Uint8Array) sender.data(this, body);
      else await this.#stream(body);
    }
    if (!this.localClosed) sender.finish(this, { kind: 'data' });
  }

  async #stream(pieces: AsyncIterable<string | Uint8Array>): Promise<void> {
    for await (const piece of pieces) {
      if (this.localClosed) return;
      this.#host.sender.data(this, typeof piece === 'string' ? Buffer.from(piece) : piece);
      while (this.congested && !this.localClosed) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }
}

/**
 * A request that is not gRPC where only gRPC is served: refused when it is whole. With another content type it gets
 * grpc-go's answer, in gRPC's form; a plain request, without one, gets the reason as text.
 */
export class NotGrpc extends Stream {
  readonly #host: StreamHost;
  readonly #plain: boolean;
  readonly #status: RpcStatus;
  readonly contentLength: number;

  constructor(id: number, host: StreamHost, head: RequestHead, status: RpcStatus) {
    super(id, host.sender.initialWindow);
    this.#host = host;
    this.#plain = head.contentType === '';
    this.#status = status;
    this.contentLength = head.contentLength;
  }

  data(): void {}

  halfClosed(): void {
    const { sender } = this.#host;
    const { code, message } = this.#status;
    if (!this.#plain) {
      sender.finish(this, { kind: 'status', code, message, httpStatus: 415 });
      return;
    }
    this.headSent = true;
    sender.control(sender.frames.http(this.id, 415, { 'content-type': 'text/plain; charset=utf-8' }, false));
    sender.data(this, Buffer.from(`${message}\n`));
    sender.finish(this, { kind: 'data' });
  }

  aborted(): void {}
}
