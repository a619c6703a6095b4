import type { Socket } from 'node:net';
import { AssertionError, type Timer } from '@engram/core';
import {
  DEFAULT_WINDOW_BYTES,
  ErrorCode,
  type FrameReader,
  goAwayFrame,
  Http2Error,
  rstStreamFrame,
  SettingId,
  settingsFrame,
  windowUpdateFrame,
} from '@engram/http2';
import type { PureJob } from '@engram/loop';
import type { Accepted } from '../listener.ts';
import { AbuseBudget } from './abuse-budget.ts';
import { Admission, type AdmissionOwner } from './admission.ts';
import type { ConnectionServer } from './connection-server.ts';
import { FrameHandler, type FrameHost } from './frame-handler.ts';
import { PingJudge } from './keepalive-policy.ts';
import { Holdings } from './holdings.ts';
import { Intake, type IntakeOwner } from './intake.ts';
import type { Leads } from './lead.ts';
import { LeaveTaking } from './leave-taking.ts';
import {
  CONNECTION_WINDOW_BYTES,
  HEADER_LIST_MAX_BYTES,
  LINGER_MS,
  STALL_MAX_MS,
  STREAM_WINDOW_BYTES,
} from './limits.ts';
import { Pinger } from './pinger.ts';
import { ReceiveFlow } from './receive-flow.ts';
import type { RequestHead } from './request-head.ts';
import { Sender, type SenderOwner } from './sender.ts';
import type { Stream } from './stream.ts';
import type { StreamHost } from './stream-host.ts';
import { type ClosedBy, StreamTable } from './stream-table.ts';

/** Tokens that a client pays when it provokes a reset from the server (CVE-2025-8671). */
const resetTokens = 10;

/**
 * One HTTP/2 connection of a client. All work on it starts in its intake, in a timer, or in a handler that answers.
 * Frames sent meanwhile gather in the sender.
 */
export class Connection implements StreamHost, FrameHost, SenderOwner, AdmissionOwner, IntakeOwner {
  readonly server: ConnectionServer;
  readonly streams = new StreamTable();
  readonly sender: Sender;
  readonly receive: ReceiveFlow;
  readonly admission: Admission;
  readonly peer: string;
  readonly client: object = {};
  readonly secure: boolean;
  readonly commonName: string | undefined;
  receivedMs: number;

  readonly #socket: Socket;
  readonly #budget: AbuseBudget;
  readonly #frames: FrameHandler;
  readonly #intake: Intake;
  readonly #pingJudge: PingJudge;
  readonly #pinger: Pinger;
  readonly #leads: Leads;
  readonly #holdings: Holdings;
  readonly #leave: LeaveTaking;
  readonly #gone: (connection: Connection) => void;
  readonly #openedMs: number;
  #blockSinceMs = Number.POSITIVE_INFINITY;
  /** Input is dropped. The socket ends when everything is sent. */
  #closing = false;
  #lost = false;
  #linger: Timer | undefined;
  /** The streams that are left when the connection ends are being dropped. */
  #dropping = false;

  /** `gone` is called once, when the socket is closed and all streams have been notified. */
  constructor(server: ConnectionServer, accepted: Accepted, gone: (connection: Connection) => void) {
    const { clock } = server;
    this.server = server;
    this.peer = accepted.peer;
    this.secure = accepted.secure;
    this.commonName = accepted.commonName;
    this.receivedMs = clock.nowMs();
    this.#openedMs = this.receivedMs;
    this.#socket = accepted.socket;
    this.#gone = gone;
    this.#budget = new AbuseBudget(this.receivedMs);
    this.#holdings = new Holdings(server.budgets);
    const { answers, requests } = this.#holdings;
    this.sender = new Sender(accepted.socket, server, this, this.#budget, answers, () => clock.nowMs());
    this.receive = new ReceiveFlow(server.messageMaxBytes, requests, (streamId, increment) => {
      this.sender.control(windowUpdateFrame(streamId, increment));
    });
    this.admission = new Admission(server.streamsMax, this.sender, answers, server.loop, this.client, this);
    this.#leads = server.leads(this);
    this.#frames = new FrameHandler(this);
    this.#pingJudge = new PingJudge(server.keepalive);
    this.#pinger = new Pinger(
      server,
      this.sender,
      () => this.receivedMs,
      () => this.#socket.destroy(),
    );
    this.#leave = new LeaveTaking(server.clock, this.sender, this.streams, () => this.#close());
    // Otherwise node ends it as soon as its client does, at once.
    this.#socket.allowHalfOpen = true;
    this.#socket.on('end', () => server.ends.later(() => this.#socket.end()));
    this.#socket.on('close', this.#onClose);
    this.#intake = new Intake(accepted.socket, clock, server.loop.transport, server.watch, this);
    this.#greet();
    this.#socket.resume();
  }

  get draining(): boolean {
    return this.#leave.begun;
  }

  /** Streams end and unary calls finish. The connection closes when the client has been told and no stream is left. */
  drain(): void {
    if (this.#closing) return;
    this.#leave.begin();
    for (const stream of this.streams) stream.stop();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** To be called every few seconds: destroys the connection if it has waited too long for the client. */
  sweep(nowMs: number): void {
    const { handshakeMs } = this.server;
    this.#account();
    this.admission.advance();
    // Other connections release budget, too, and a client without a window sends nothing that would bring it a new one.
    if (!this.#closing && !this.admission.someWait) this.receive.credit();
    if (!this.#frames.settingsSeen && nowMs - this.#openedMs > handshakeMs) this.destroy();
    if (nowMs - this.#blockSinceMs > handshakeMs) this.destroy();
    if (this.sender.waits && nowMs - this.sender.progressMs > STALL_MAX_MS) {
      this.server.logger.warn({ peer: this.peer }, 'connection cut: the client has not read for too long');
      this.destroy();
    }
  }

  get sliceSpent(): boolean {
    return this.#intake.sliceSpent;
  }

  get lookMs(): number {
    return this.#intake.lookMs;
  }

  worked(ms: number, nowMs: number): void {
    this.#intake.worked(ms, nowMs);
  }

  // FrameHost: what frames call.

  spend(tokens: number, what: string): void {
    if (!this.#budget.spend(tokens, this.receivedMs)) {
      throw new Http2Error(ErrorCode.ENHANCE_YOUR_CALM, `too_many ${what}`);
    }
  }

  open(streamId: number, head: RequestHead, endStream: boolean): void {
    const { streamsMax } = this.server;
    if (this.streams.size >= streamsMax || this.#leave.refuses(streamId) || !this.#mayHoldStream()) {
      this.spend(1, 'streams');
      this.#rst(streamId, ErrorCode.REFUSED_STREAM, endStream ? 'client' : 'server');
      return;
    }
    head.lead ??= this.#leads.find(head);
    const stream = head.lead.open(streamId, head, endStream);
    if (stream === undefined) return;
    this.streams.add(stream);
    this.receive.hold(stream, head.bytes);
    stream.opened();
    if (endStream && !stream.remoteClosed) this.remoteEnd(stream);
  }

  refuse(streamId: number, frame: Buffer, endStream: boolean): void {
    this.sender.control(frame);
    if (endStream) this.streams.remove(streamId, 'client');
    else this.#rst(streamId, ErrorCode.NO_ERROR, 'server');
  }

  remoteEnd(stream: Stream): void {
    stream.remoteClosed = true;
    if (stream.contentLength >= 0 && stream.contentLength !== stream.receivedBytes) {
      this.reset(stream, ErrorCode.PROTOCOL_ERROR);
    } else {
      stream.halfClosed();
    }
  }

  reset(stream: Stream, errorCode: number): void {
    this.sender.control(rstStreamFrame(stream.id, errorCode));
    this.#drop(stream, 'server');
    this.spend(resetTokens, 'errors');
  }

  resetClosed(streamId: number, errorCode: number): void {
    this.#rst(streamId, errorCode, 'server');
    this.spend(resetTokens, 'errors');
  }

  cancelled(stream: Stream): void {
    this.#drop(stream, 'client');
  }

  onPing(): void {
    const { sentSincePing } = this.sender;
    this.sender.sentSincePing = false;
    if (this.#pingJudge.onPing(this.receivedMs, this.streams.size, sentSincePing)) {
      throw new Http2Error(ErrorCode.ENHANCE_YOUR_CALM, 'too_many_pings');
    }
  }

  onPingAck(data: Buffer): void {
    this.#leave.onPingAck(data);
  }

  // SenderOwner: what the sender calls.

  streamSent(stream: Stream): void {
    if (!stream.remoteClosed) {
      // The client does not have to send the rest of its request. grpc-go does the same.
      this.#rst(stream.id, ErrorCode.NO_ERROR, 'server');
      stream.remoteClosed = true;
    } else {
      this.streams.remove(stream.id, 'client');
    }
    this.receive.streamGone(stream);
    if (this.#leave.begun) this.#leave.streamGone();
  }

  streamBroken(stream: Stream, cause: unknown): void {
    this.server.logger.warn(
      { peer: this.peer, cause: String(cause) },
      'an answer was cut: the rest of it cannot be had',
    );
    this.sender.control(rstStreamFrame(stream.id, ErrorCode.INTERNAL_ERROR));
    this.#drop(stream, 'server');
  }

  batchTaken(): void {
    this.#account();
    this.admission.advance();
    if (!this.admission.someWait) this.receive.credit();
    this.#intake.sent();
    if (this.#closing && this.sender.idle) this.#socket.end();
  }

  // AdmissionOwner: what the admission calls, beside `fault`.

  noneWait(): void {
    this.receive.credit();
  }

  // IntakeOwner: what the intake calls.

  sliceBegan(nowMs: number): void {
    this.receivedMs = nowMs;
    this.sender.cork();
  }

  frame(reader: FrameReader): void {
    this.#frames.handle(reader);
  }

  get unfinished(): boolean {
    return this.#frames.unfinished;
  }

  resume(): void {
    this.#frames.resume();
  }

  sliceEnded(): void {
    this.#account();
    if (!this.admission.someWait) this.receive.credit();
    this.#blockSinceMs = this.#frames.insideHeaderBlock ? Math.min(this.#blockSinceMs, this.receivedMs) : Infinity;
    this.sender.uncork();
  }

  get unsentBytes(): number {
    return this.sender.unsentBytes;
  }

  fault(error: unknown): void {
    if (error instanceof AssertionError) throw error;
    if (error instanceof Http2Error) {
      this.server.logger.warn({ peer: this.peer, code: error.code, reason: error.message }, 'HTTP/2 connection ended');
      this.#goAway(error.code, error.message);
    } else {
      this.server.logger.error({ peer: this.peer, error }, 'HTTP/2 connection failed');
      this.#goAway(ErrorCode.INTERNAL_ERROR, 'internal error');
    }
  }

  readonly #onClose = (): void => {
    this.#closing = true;
    this.#intake.end();
    this.#pinger.stop();
    this.#leave.stop();
    this.#linger?.cancel();
    this.#lost = true;
    this.server.ends.later(() => this.#dropAll());
  };

  #greet(): void {
    const { streamsMax } = this.server;
    this.sender.control(
      settingsFrame([
        [SettingId.MAX_CONCURRENT_STREAMS, streamsMax],
        [SettingId.INITIAL_WINDOW_SIZE, STREAM_WINDOW_BYTES],
        [SettingId.MAX_HEADER_LIST_SIZE, HEADER_LIST_MAX_BYTES],
      ]),
    );
    this.sender.control(windowUpdateFrame(0, CONNECTION_WINDOW_BYTES - DEFAULT_WINDOW_BYTES));
  }

  #rst(streamId: number, errorCode: number, closedBy: ClosedBy): void {
    this.sender.control(rstStreamFrame(streamId, errorCode));
    this.streams.remove(streamId, closedBy);
  }

  /**
   * Ends every stream, in slices of the loop: a client may have opened tens of thousands, and each has a handler to
   * notify.
   */
  #dropAll(): void {
    this.sender.end();
    this.receive.end();
    this.admission.end();
    if (this.#dropping) return;
    this.#dropping = true;
    void this.server.loop.run({ work: 'client', caller: this.client, stage: 'end' }, this.#dropEach());
  }

  *#dropEach(): PureJob<void> {
    const { loop } = this.server;
    for (const stream of this.streams.removable()) {
      this.#drop(stream, 'client');
      if (loop.shouldYield()) yield;
    }
    this.#dropping = false;
    if (!this.#lost) return;
    this.#holdings.end();
    this.#gone(this);
  }

  #mayHoldStream(): boolean {
    const { streams } = this.#holdings;
    streams.hold(this.streams.size);
    if (streams.mayGrow && !this.receive.overdrawn) return true;
    streams.refused();
    return false;
  }

  #account(): void {
    this.#holdings.requests.hold(this.receive.heldBytes + this.admission.runningBytes);
    this.#holdings.streams.hold(this.streams.size);
  }

  /** Removes a stream before its regular end. */
  #drop(stream: Stream, by: ClosedBy): void {
    this.streams.remove(stream.id, by);
    stream.remoteClosed = true;
    stream.localClosed = true;
    this.sender.forget(stream);
    stream.aborted();
    this.receive.streamGone(stream);
    if (this.#leave.begun) this.#leave.streamGone();
  }

  #goAway(errorCode: number, reason: string): void {
    this.sender.control(goAwayFrame(this.streams.lastId, errorCode, reason));
    this.#dropAll();
    this.#close();
  }

  /**
   * Ends the socket when everything is sent. Later input is read and dropped, so that the client receives the last
   * frames.
   */
  #close(): void {
    if (this.#closing) return;
    this.#closing = true;
    this.#intake.end();
    this.#linger = this.server.clock.after(LINGER_MS, () => this.#socket.destroy());
    this.sender.flush();
    if (this.sender.idle) this.#socket.end();
  }
}
