import { assert, EngramError, GrpcCode } from '@engram/core';
import {
  type CallContext,
  type LongMessage,
  type Message,
  type Method,
  type MethodTable,
  type StreamCall,
  type StreamHandler,
  WireError,
} from '@engram/wire';

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();
const never = new Promise<never>(() => {});

/** The events that the methods below have recorded, in order. */
export type Journal = string[];

const ignore: StreamHandler = { message() {}, halfClosed() {}, drained() {}, closed() {} };

/** A message of this many zeros, encoded while it is sent. */
const endless = (bytes: number): LongMessage => ({
  bytes,
  heldBytes: bytes,
  prepare: () => undefined,
  drop() {},
  read: (target, start, end) => target.fill(0, start, end) && end,
});

/** Controls the messages of /test.Echo/Paged. */
export class Pages {
  /** Each `prepare` waits until the test calls its entry. */
  readonly waiting: ((error?: Error) => void)[] = [];
  /** Messages that were given up before their last byte. */
  dropped = 0;
  /** Messages that were given back, with or without all their bytes. */
  released = 0;
  /** Messages that were told that they wait for their client. */
  stayed = 0;

  /** All its bytes are at hand from the start. */
  ready(bytes: number): LongMessage {
    const message = this.message(bytes);
    return { ...message, prepare: () => undefined, read: (target, start, end) => target.fill(0, start, end) && end };
  }

  /** Like `endless`, but only prepared bytes can be read: 100,000 at a time. */
  message(bytes: number): LongMessage {
    let [ready, at, open, held] = [0, 0, true, true];
    return {
      bytes,
      heldBytes: 1_000,
      prepare: (wanted) => {
        if (at + wanted <= ready) return undefined;
        return new Promise((resolve, reject) => {
          this.waiting.push((error) => {
            ready += 100_000;
            if (error === undefined) resolve();
            else reject(error);
          });
        });
      },
      read: (target, start, end) => {
        at += end - start;
        assert(at <= ready, 'read before it was there');
        if (at === bytes) open = false;
        target.fill(0, start, end);
        return end;
      },
      stays: () => {
        this.stayed += 1;
      },
      drop: () => {
        if (open) this.dropped += 1;
        if (held) this.released += 1;
        open = false;
        held = false;
      },
    };
  }
}

/** Methods that do one thing each, so that the name of a method shows what a test case checks. */
export function echoMethods(journal: Journal, pages = new Pages()): MethodTable {
  const unary = (handle: (request: Uint8Array, call: CallContext) => Message | Promise<Message>): Method => ({
    kind: 'unary',
    handle,
  });
  const bidi = (open: (call: StreamCall) => StreamHandler): Method => ({ kind: 'bidi', open });
  return new Map<string, Method>([
    ['/test.Echo/Sync', unary((request) => Uint8Array.from(request))],
    ['/test.Echo/Async', unary(async (request) => Uint8Array.from(request))],
    ['/test.Echo/Pieces', unary((request) => [Buffer.from('<'), Uint8Array.from(request), Buffer.from('>')])],
    ['/test.Echo/Big', unary((request) => Buffer.alloc(Number(text(request)), 'x'))],
    ['/test.Echo/Paged', unary((request) => pages.message(Number(text(request))))],
    ['/test.Echo/Ready', unary((request) => pages.ready(Number(text(request))))],
    [
      '/test.Echo/ReadyStream',
      {
        kind: 'server-stream',
        /** Sends one message, ends the call, and tries to send another. */
        open(request, call) {
          call.send(pages.ready(Number(text(request))));
          call.end();
          call.send(pages.ready(Number(text(request))));
          return ignore;
        },
      },
    ],
    ['/test.Echo/Endless', unary((request) => endless(Number(text(request))))],
    [
      '/test.Echo/EndlessStream',
      {
        kind: 'server-stream',
        open(request, call) {
          call.send(endless(Number(text(request))));
          return ignore;
        },
      },
    ],
    ['/test.Echo/Metadata', unary((request, call) => Buffer.from(String(call.metadata(text(request)))))],
    ['/test.Echo/Peer', unary((_request, call) => Buffer.from(call.peer))],
    ['/test.Echo/CommonName', unary((_request, call) => Buffer.from(String(call.commonName)))],
    [
      '/test.Echo/Hang',
      unary((_request, call) => {
        journal.push('hangs');
        call.signal.addEventListener('abort', () => journal.push('aborted'));
        return never;
      }),
    ],
    [
      '/test.Echo/Throw',
      unary((request) => {
        if (text(request) === 'engram') throw new EngramError('Compacted');
        if (text(request) === 'wire') throw new WireError('truncated');
        if (text(request) === 'unicode') throw new Error('naïve 100% — ok\n');
        if (text(request).startsWith('long')) throw new Error(text(request));
        throw new Error('plain text');
      }),
    ],
    ['/test.Echo/Reject', unary(() => Promise.reject(new EngramError('NoLeader')))],
    [
      '/test.Echo/Bidi',
      bidi((call) => ({
        message(request) {
          if (text(request) === 'throw') throw new EngramError('Canceled');
          call.send(Uint8Array.from(request));
          if (text(request) === 'fail') call.end({ code: GrpcCode.OUT_OF_RANGE, message: 'failed as told' });
        },
        halfClosed: () => call.end(),
        drained() {},
        closed: () => void journal.push('closed'),
      })),
    ],
    ['/test.Echo/Open', bidi(() => ({ ...ignore, closed: () => void journal.push('closed') }))],
    [
      '/test.Echo/Count',
      {
        kind: 'server-stream',
        open(request, call) {
          const last = Number(text(request));
          for (let at = 1; at <= last; at += 1) call.send(Buffer.from(String(at)));
          call.end();
          return { ...ignore, closed: () => void journal.push('closed') };
        },
      },
    ],
    [
      '/test.Echo/Chunks',
      {
        kind: 'server-stream',
        /**
         * Sends the requested number of chunks of 256 KiB. Each is made a turn later, and none while the stream must
         * wait.
         */
        open(request, call) {
          let left = Number(text(request));
          let over = false;
          let waiting = false;
          journal.push('opened');
          const pump = (): void => {
            waiting = false;
            if (over) return;
            if (call.queuedBytes > 1024 * 1024 || call.crowded) return;
            if (left === 0) {
              call.end();
              return;
            }
            left -= 1;
            call.send(Buffer.alloc(256 * 1024, 'c'));
            next();
          };
          const next = (): void => {
            if (waiting) return;
            waiting = true;
            setImmediate(pump);
          };
          next();
          return {
            ...ignore,
            drained: next,
            closed: () => {
              over = true;
            },
          };
        },
      },
    ],
    [
      '/test.Echo/Flood',
      {
        kind: 'server-stream',
        /** Sends the requested number of chunks, with at most 512 KiB queued at any time. */
        open(request, call) {
          let left = Number(text(request));
          const chunk = Buffer.alloc(32 * 1024, 'f');
          const pump = (): void => {
            while (left > 0 && call.queuedBytes < 512 * 1024) {
              left -= 1;
              call.send([chunk, chunk]);
            }
            if (left === 0) call.end();
          };
          pump();
          return {
            ...ignore,
            drained() {
              journal.push('drained');
              pump();
            },
            closed: () => void journal.push('closed'),
          };
        },
      },
    ],
  ]);
}
