import { logPosition, SequenceRing, type Timer } from '@engram/core';
import { Inbox, type Loop, type Task } from '@engram/loop';
import { type PeerAdmission, type PeerCaller, PeerError } from '@engram/member';
import { recordBytes } from '@engram/storage';
import { Metadata, type ServerDuplexStream, type ServerWritableStream, status } from '@grpc/grpc-js';
import { Gathered } from './gathered.ts';
import type * as linkpb from './gen/linkpb.ts';
import { QUEUED_FRAMES_MAX } from './peer-link.ts';
import type { PeerServerOptions } from './peer-server-options.ts';
import type { PeerSockets } from './peer-sockets.ts';
import type { ReceiveLimits } from './receive-limits.ts';
import { UnsentBytes } from './unsent-bytes.ts';

export type Exchange = ServerDuplexStream<linkpb.Frame, linkpb.AnswersInit>;
export type Follow = ServerWritableStream<linkpb.FollowRequest, linkpb.BatchesInit>;

/** Encoding a message of so many records takes a millisecond, decoding it as well. A longer batch goes in pieces. */
const MESSAGE_RECORDS_MAX = 4096;

const CALLS_MIN = 64;
const ANSWERS_BYTES_MAX = 256 * 1024 * 1024;
/** What an answer takes beside its own bytes while it is not sent. */
const ANSWER_BYTES = 256;
const NO_BYTES = new Uint8Array(0);
/** The numbers of a member's calls go up by one. A few are never sent: so many, while the calls before them are under way. */
const CALLS_SKIPPED_MAX = 2 ** 16;

/** The streams of the other members. */
export class PeerCalls {
  readonly #options: PeerServerOptions;
  readonly #loop: Loop;
  readonly #closing = new AbortController();
  /** The newest connection of each member that has dialled. */
  readonly #dialled = new Map<bigint, Exchange>();

  readonly #limits: ReceiveLimits;
  readonly #sockets: PeerSockets;
  readonly #streams = new Set<Greeted>();

  constructor(options: PeerServerOptions, loop: Loop, limits: ReceiveLimits, sockets: PeerSockets) {
    this.#options = options;
    this.#loop = loop;
    this.#limits = limits;
    this.#sockets = sockets;
  }

  review(): void {
    for (const stream of this.#streams) this.#isAdmitted(stream);
  }

  send(member: bigint, bytes: Uint8Array): boolean {
    const call = this.#dialled.get(member);
    if (call === undefined || call.destroyed || call.writableLength > QUEUED_FRAMES_MAX) return false;
    call.write({ messages: [bytes] });
    this.#count(member, 'sentBytes', bytes.length);
    return true;
  }

  #count(member: bigint, what: 'sentBytes' | 'receivedBytes' | 'receiveFailures' | 'refused', count: number): void {
    const traffic = this.#options.traffic.with(member);
    if (traffic !== undefined) traffic[what] += count;
  }

  close(): void {
    this.#closing.abort(new PeerError('lost', 'the member stops'));
  }

  exchange(call: Exchange): void {
    const underWay = new SequenceRing<CallUnderWay>(CALLS_MIN);
    let stream: Greeted | undefined;
    let inboxes: Inboxes | undefined;
    let from = 0n;
    const { answersBytesMax = ANSWERS_BYTES_MAX } = this.#options;
    let unsentBytes = 0;
    let skipped = 0;
    const answers = new Gathered<linkpb.CallAnswerInit>((gathered) => {
      if (call.destroyed) return;
      const bytes = recordBytes(gathered.map(({ answer = NO_BYTES }) => answer)) + ANSWER_BYTES * gathered.length;
      unsentBytes += bytes;
      if (unsentBytes > answersBytesMax) this.#cutOff(from, stream);
      else
        call.write({ answers: gathered }, () => {
          unsentBytes -= bytes;
        });
    });
    call.on('data', (frame: linkpb.Frame) => {
      if (call.destroyed || stream?.ended === true) return;
      if (stream === undefined) {
        stream = this.#greet(call, frame.hello, true);
        if (stream === undefined) return;
        from = stream.member;
        inboxes = this.#inboxes(stream, underWay, answers);
        this.#dialled.set(from, call);
        call.sendMetadata(new Metadata()); // for the dialing member this means "connected"
      } else if (!this.#isAdmitted(stream)) return;
      if (frame.ping > 0 && call.writableLength <= QUEUED_FRAMES_MAX) call.write({ pong: frame.ping });
      inboxes!.messages.take(frame.messages);
      if (stream.ended) return;
      for (const { number, request } of frame.calls) {
        this.#count(from, 'receivedBytes', request.length);
        skipped = underWay.isEmpty ? 0 : skipped + number - underWay.next;
        if (number < underWay.next || skipped > CALLS_SKIPPED_MAX) {
          end(stream, status.INVALID_ARGUMENT, `call ${number} is out of order`);
          return;
        }
        underWay.put(number, new CallUnderWay(from));
      }
      inboxes!.calls.take(frame.calls);
      for (const number of frame.cancelled) underWay.get(number)?.abort(new PeerError('lost', 'nobody waits'));
    });
    const ended = (): void => {
      if (stream !== undefined) this.#forget(stream);
      inboxes?.messages.clear();
      inboxes?.calls.clear();
      this.#limits.forget(call.metadata);
      for (const called of underWay.values()) called.abort(new PeerError('lost', 'the connection has ended'));
      underWay.truncate(underWay.first);
      if (this.#dialled.get(from) === call) this.#dialled.delete(from);
    };
    call.on('end', () => {
      ended();
      call.end();
    });
    call.on('error', () => {
      this.#count(from, 'receiveFailures', 1);
      ended();
    });
    call.on('close', ended);
    call.on('cancelled', ended);
  }

  /** What it does not read stays in memory until its connection ends. */
  #cutOff(from: bigint, stream: Greeted | undefined): void {
    if (stream === undefined || stream.ended) return;
    stream.ended = true;
    this.#options.logger.warn(
      { member: from.toString(16) },
      'a member does not read the answers to its calls: its connection ends',
    );
    this.#sockets.drop(stream.peer);
  }

  /** Raft's messages never wait for calls: a member that is silent for an election timeout is taken for gone. */
  #inboxes(stream: Greeted, underWay: SequenceRing<CallUnderWay>, answers: Gathered<linkpb.CallAnswerInit>): Inboxes {
    const caller = `member ${stream.member}`;
    const raft: Task = { work: 'consensus', caller, stage: 'raft' };
    const calls: Task = { work: 'client', caller, stage: 'call' };
    return {
      messages: new Inbox(this.#loop, raft, (message) => this.#message(stream, message)),
      calls: new Inbox(this.#loop, calls, (called) => this.#begin(stream.member, called, underWay, answers)),
    };
  }

  #message(stream: Greeted, message: Uint8Array): void {
    const { member } = stream;
    this.#count(member, 'receivedBytes', message.length);
    const fault = this.#options.service.message(message, { member, dialed: false });
    if (fault === undefined) return;
    this.#count(member, 'refused', 1);
    // Who is no member any more does not know it yet, and is to be told.
    if (stream.admission === 'member') end(stream, status.INVALID_ARGUMENT, `refused a message: ${fault}`);
  }

  #begin(
    from: bigint,
    { number, request }: linkpb.Call,
    underWay: SequenceRing<CallUnderWay>,
    answers: Gathered<linkpb.CallAnswerInit>,
  ): void {
    const called = underWay.get(number)!;
    // It has waited, and nobody waits for it any more.
    if (called.aborted) {
      underWay.remove(number);
      return;
    }
    void this.#answer(request, called).then((answer) => {
      underWay.remove(number);
      if (answer === undefined) return;
      this.#count(from, 'sentBytes', answer.length);
      answers.add({ number, answer });
    });
  }

  async #answer(request: Uint8Array, called: CallUnderWay): Promise<Uint8Array | undefined> {
    try {
      return await this.#options.service.call(request, called);
    } catch (error) {
      // An internal error gets no answer: the calling member waits until its signal fires or the connection ends.
      if (!called.aborted) this.#options.logger.error({ error: String(error) }, 'a call of another member failed');
      return undefined;
    }
  }

  async follow(call: Follow): Promise<void> {
    const stream = this.#greet(call, call.request.hello, false);
    const gone = new AbortController();
    const ended = (): void => {
      if (stream !== undefined) this.#forget(stream);
      this.#limits.forget(call.metadata);
      gone.abort();
    };
    call.on('cancelled', ended);
    call.on('close', ended);
    call.on('error', ended);
    if (stream === undefined) return;
    const from = stream.member;
    const signal = AbortSignal.any([gone.signal, this.#closing.signal]);
    const { queuedBytesMax } = this.#options;
    try {
      const unsent = new UnsentBytes(queuedBytesMax, signal);
      const followed = this.#options.service.follow(logPosition(call.request.from), signal);
      for await (const { first, records, chain } of followed) {
        if (records.length > MESSAGE_RECORDS_MAX && !joinsPieces(call.request)) {
          throw new PeerError('behind', `a member of an older version reads a batch of ${records.length} from the log`);
        }
        for (let at = 0; at < records.length; at += MESSAGE_RECORDS_MAX) {
          if (signal.aborted || !this.#isAdmitted(stream)) return;
          if (at > 0) await this.#loop.pause({ work: 'catch-up', caller: `member ${from}`, stage: 'follow' });
          const piece = records.slice(at, at + MESSAGE_RECORDS_MAX);
          const more = at + piece.length < records.length;
          const sent = unsent.add(piece);
          this.#count(from, 'sentBytes', recordBytes(piece));
          const behind = more || chain === undefined ? undefined : { chain };
          call.write({ batches: [{ first: first + at, records: piece, more, ...behind }] }, sent);
          await unsent.room();
        }
      }
      call.end();
    } catch (error) {
      if (gone.signal.aborted) return;
      const behind = error instanceof PeerError && error.fault === 'behind';
      call.emit('error', { code: behind ? status.OUT_OF_RANGE : status.UNAVAILABLE, details: String(error) });
    }
  }

  /** The stream, if it is served: then its messages may be large, and its socket is a member's. Otherwise it has ended. */
  #greet(call: Exchange | Follow, hello: linkpb.Hello | undefined, mayAsk: boolean): Greeted | undefined {
    const fault = this.#fault(hello);
    if (fault !== undefined || hello === undefined) return refuse(call, fault ?? 'no hello');
    const member = hello.from;
    const admission = this.#options.service.admission(member);
    if (admission === 'unknown' || (admission !== 'member' && !mayAsk)) {
      return refuse(call, notAdmitted(member, admission));
    }
    if (admission !== 'member' && this.#asking >= ASKING_MAX)
      return refuse(call, 'too many streams of others than members');
    const peer = call.getPeer();
    if (!this.#sockets.greeted(peer, member)) return refuse(call, 'too many connections of this member');
    if (admission === 'member') this.#limits.trust(call.metadata);
    const stream: Greeted = { call, peer, member, admission, ended: false, patience: undefined };
    this.#streams.add(stream);
    if (admission !== 'member') {
      stream.patience = this.#options.clock.after(ASKING_MS, () => {
        if (!this.#isAdmitted(stream) || stream.admission === 'member') return;
        end(stream, status.FAILED_PRECONDITION, 'who is no member may ask again');
      });
    }
    return stream;
  }

  /** The stream has ended. The socket of who is no member does not stay for that, unless another stream of it is served. */
  #forget(stream: Greeted): void {
    if (!this.#streams.delete(stream)) return;
    stream.patience?.cancel();
    if (this.#options.service.admission(stream.member) === 'member') return;
    for (const { peer, ended } of this.#streams) if (peer === stream.peer && !ended) return;
    this.#sockets.left(stream.peer);
  }

  #fault(hello: linkpb.Hello | undefined): string | undefined {
    if (hello === undefined) return 'a peer that does not say who it is';
    const { clusterId, memberId, storeId, foundingId = 0n } = this.#options;
    if (hello.cluster !== clusterId) return `this is a member of cluster ${clusterId.toString(16)}`;
    if (hello.to !== memberId) return `this is member ${memberId.toString(16)}`;
    // Members of the version before do not say it.
    if (hello.store !== 0n && hello.store !== storeId) return 'the data of this member is at another place of TiKV';
    if (hello.founding !== 0n && foundingId !== 0n && hello.founding !== foundingId)
      return 'this is a member of a cluster that was founded at this place at another time';
    return undefined;
  }

  get #asking(): number {
    let count = 0;
    for (const { admission } of this.#streams) if (admission !== 'member') count += 1;
    return count;
  }

  /** False if the stream has ended, because its member has been removed. One of who asks goes on while it may ask. */
  #isAdmitted(stream: Greeted): boolean {
    if (stream.ended) return false;
    const admission = this.#options.service.admission(stream.member);
    if (admission === 'member' && stream.admission !== 'member') this.#limits.trust(stream.call.metadata);
    const fewer = stream.admission === 'member' && admission !== 'member';
    if (fewer || admission === 'unknown') {
      end(stream, status.FAILED_PRECONDITION, notAdmitted(stream.member, admission));
      return false;
    }
    stream.admission = admission;
    return true;
  }
}

/**
 * Programs that joined no pieces took the first one for the whole batch. They are older than the field `store`, which says where the
 * data are: who follows without it gets no piece.
 */
const joinsPieces = ({ hello }: linkpb.FollowRequest): boolean => hello !== undefined && hello.store !== 0n;

/** What one stream has brought. */
interface Inboxes {
  readonly messages: Inbox<Uint8Array>;
  readonly calls: Inbox<linkpb.Call>;
}

/** A stream that is served. */
interface Greeted {
  readonly call: Exchange | Follow;
  /** Its address, as gRPC names it. */
  readonly peer: string;
  readonly member: bigint;
  admission: PeerAdmission;
  ended: boolean;
  /** Of a stream that was greeted as another than a member's. */
  patience: Timer | undefined;
}

/** Streams of removed members, which learn of their removal, and of unknown ones that may ask for votes or lead. */
const ASKING_MAX = 16;
/** How long one of them has its place. It says what it wants at once, and may come again: others wait for the place. */
export const ASKING_MS = 60_000;

function end(stream: Greeted, code: status, details: string): void {
  stream.ended = true;
  stream.call.emit('error', { code, details });
}

function refuse(call: Exchange | Follow, details: string): undefined {
  call.emit('error', { code: status.FAILED_PRECONDITION, details });
  return undefined;
}

const notAdmitted = (member: bigint, admission: PeerAdmission): string =>
  admission === 'removed'
    ? `member ${member.toString(16)} was removed from the cluster`
    : `member ${member.toString(16)} is not in the member list`;

/** A call that this member works on. Most calls never need the signal, which costs as much as a good part of a call. */
class CallUnderWay implements PeerCaller {
  readonly member: bigint;
  #reason: PeerError | undefined;
  #abort: AbortController | undefined;

  constructor(member: bigint) {
    this.member = member;
  }

  get aborted(): boolean {
    return this.#reason !== undefined;
  }

  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController();
      if (this.#reason !== undefined) this.#abort.abort(this.#reason);
    }
    return this.#abort.signal;
  }

  abort(reason: PeerError): void {
    this.#reason ??= reason;
    this.#abort?.abort(reason);
  }
}
