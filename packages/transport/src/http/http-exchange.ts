import type { Share } from '@engram/core';
import { ErrorCode } from '@engram/http2';
import type { Admissible } from '../h2/admission.ts';
import { BATCH_MAX_BYTES } from '../h2/limits.ts';
import type { RequestHead } from '../h2/request-head.ts';
import { Stream } from '../h2/stream.ts';
import type { StreamHost } from '../h2/stream-host.ts';
import type { HttpRequest, HttpResponse } from '../serve-options.ts';
import { CALL_ENDED } from '../status.ts';
import { headFields } from './head-fields.ts';
import { splitTarget } from './http1.ts';
import type { PlainHttp } from './plain-http.ts';

/** Headers that concern an HTTP/1.1 connection are not allowed in HTTP/2 (RFC 9113 §8.2.2). */
const connectionHeaders = new Set(['connection', 'keep-alive', 'transfer-encoding', 'upgrade']);

/** Memory that a piece of a body takes in addition to its bytes. Counted because a body may arrive byte by byte. */
const PIECE_BYTES = 256;

/** A plain HTTP request over HTTP/2. */
export class HttpExchange extends Stream implements Admissible {
  override readonly counted = true;
  readonly #plain: PlainHttp;
  readonly #host: StreamHost;
  readonly #head: RequestHead;
  /** Created when a handler reads the signal, so that a lost connection does not pay for every request on it. */
  #gone: AbortController | undefined;
  #isGone = false;
  #body: Buffer[] = [];
  #bodyBytes = 0;
  #headSent = false;
  #wake: (() => void) | undefined;

  constructor(id: number, plain: PlainHttp, host: StreamHost, head: RequestHead) {
    super(id, host.sender.initialWindow);
    this.#plain = plain;
    this.#host = host;
    this.#head = head;
  }

  get contentLength(): number {
    return this.#head.contentLength;
  }

  data(bytes: Buffer, start: number, end: number): number {
    if (this.#bodyTooLong) {
      this.#forgetBody();
      return end;
    }
    this.#body.push(Buffer.from(bytes.subarray(start, end)));
    this.#hold(this.#bodyBytes + end - start + PIECE_BYTES);
    if (this.#host.receive.overdrawn) this.#host.reset(this, ErrorCode.ENHANCE_YOUR_CALM);
    return end;
  }

  /**
   * Admitted like a call. A request that the client resets counts as running until its handler returns, or until its slice
   * would have begun. A client that does not read its answers gets no further request started.
   */
  halfClosed(): void {
    this.#host.admission.admit(this);
  }

  get finished(): boolean {
    return this.#isGone;
  }

  start(): void {
    const { admission } = this.#host;
    // The handler may hold the body for longer than the stream is open.
    const bytes = this.#bodyBytes;
    this.#hold(0);
    admission.entered(bytes);
    const answerBytes = this.#plain.budgets.answerBytes.share();
    void this.#serve(answerBytes).then(() => {
      answerBytes.end();
      admission.left(bytes);
    });
  }

  aborted(): void {
    this.#forgetBody();
    this.#isGone = true;
    this.#gone?.abort(CALL_ENDED);
    this.#wake?.();
  }

  writeEnd(): void {
    this.#host.sender.endData(this);
  }

  /** Twice the limit, because JSON carries bytes as base64. */
  get #bodyTooLong(): boolean {
    return this.receivedBytes > 2 * this.#plain.maxRequestBytes;
  }

  override sent(): void {
    if (!this.congested) this.#wake?.();
  }

  override get congested(): boolean {
    return (this.queue?.bytes ?? 0) + this.batchBytes + this.flyingBytes > BATCH_MAX_BYTES;
  }

  async #serve(answerBytes: Share): Promise<void> {
    try {
      await this.#plain.turn(this.#host.client);
      if (this.#isGone) return;
      await this.#answer(
        this.#bodyTooLong
          ? { status: 413, headers: {}, body: '' }
          : await this.#plain.answer(this.#request(answerBytes), this.#host.client),
      );
    } catch (error) {
      if (this.#isGone) return;
      if (!this.#headSent) {
        this.#plain.logger.error({ error, path: this.#head.path }, 'HTTP handler failed');
        await this.#answer({ status: 500, headers: {}, body: 'internal server error\n' });
        // Otherwise what is there would look like the whole answer.
      } else this.#host.streamBroken(this, error);
    }
  }

  #hold(bodyBytes: number): void {
    this.#bodyBytes = bodyBytes;
    this.#host.receive.hold(this, this.#head.bytes + bodyBytes);
  }

  #forgetBody(): void {
    this.#body = [];
    this.#hold(0);
  }

  #request(answerBytes: Share): HttpRequest {
    const { path, query } = splitTarget(this.#head.path);
    const headers: Record<string, string | undefined> = {};
    const { authority } = this.#head;
    if (authority !== '') headers['host'] = authority;
    for (const { name, value } of this.#head.fields) {
      // As in Go, it counts only for a client that names no authority: some proxies name both.
      if (name === 'host' && authority !== '') continue;
      const before = headers[name];
      headers[name] = before === undefined ? value : `${before}, ${value}`;
    }
    const { peer, client, secure, commonName } = this.#host;
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
      client,
      secure,
      commonName,
      answerBytes,
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
    this.#headSent = true;
    sender.control(sender.headers.frames(this.id, headFields(status, Object.fromEntries(kept)), false));
    if (this.#head.method !== 'HEAD') {
      if (typeof body === 'string') sender.queue(this, Buffer.from(body));
      else if (body instanceof Uint8Array) sender.queue(this, body);
      else await this.#stream(body);
    }
    if (!this.localClosed) sender.finish(this);
  }

  async #stream(pieces: AsyncIterable<string | Uint8Array>): Promise<void> {
    for await (const piece of pieces) {
      if (this.localClosed) return;
      this.#host.sender.queue(this, typeof piece === 'string' ? Buffer.from(piece) : piece);
      while (this.congested && !this.localClosed) {
        const taken = new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        await this.#plain.patiently(taken, () =>
          this.#host.streamBroken(this, new Error('the client does not read it')),
        );
      }
    }
  }
}
