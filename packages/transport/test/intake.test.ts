import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import {
  FRAMES_PHASE_MS,
  FRAMES_SHARED_SLICE_MS,
  LATE_PHASE_MS,
  Loop,
  TransportShare,
  TURN_MS,
  unwatched,
} from '@engram/loop';
import { SimClock } from '@engram/sim';
import { CLIENT_PREFACE, type FrameReader, pingFrame } from '@engram/http2';
import { Intake, type IntakeOwner } from '../src/h2/intake.ts';
import { OUTPUT_HELD_MAX_BYTES } from '../src/h2/limits.ts';

/** A socket that emits what the test passes in, even while it is paused: TLS does so with data that it has decrypted. */
class FakeSocket extends EventEmitter {
  paused = false;
  destroyed = false;
  pause(): void {
    this.paused = true;
  }
  resume(): void {
    this.paused = false;
  }
  isPaused(): boolean {
    return this.paused;
  }
}

class Owner implements IntakeOwner {
  unsentBytes = 0;
  readonly frames: number[] = [];
  readonly slices: number[] = [];
  faults = 0;
  readonly unfinished = false;
  resume(): void {}
  onFrame = (): void => {};
  sliceBegan(): void {}
  frame({ bytes, start }: FrameReader): void {
    this.frames.push(bytes.readUInt32BE(start + 4));
    this.onFrame();
  }
  fault(): void {
    this.faults += 1;
  }
  sliceEnded(): void {
    this.slices.push(this.frames.length);
  }
}

function numbered(from: number, count: number): Buffer {
  return Buffer.concat(
    Array.from({ length: count }, (_, at) => {
      const data = Buffer.alloc(8);
      data.writeUInt32BE(from + at, 4);
      return pingFrame(data, false);
    }),
  );
}

function begin(): { socket: FakeSocket; owner: Owner; clock: SimClock; intake: Intake } {
  const socket = new FakeSocket();
  const clock = new SimClock();
  const owner = new Owner();
  const intake = new Intake(socket, clock, new TransportShare(clock), unwatched, owner);
  socket.emit('data', Buffer.from(CLIENT_PREFACE));
  return { socket, owner, clock, intake };
}

const range = (count: number): number[] => Array.from({ length: count }, (_, at) => at);

test('work that takes long goes on in the next turn, in order, and nothing new is read meanwhile', async () => {
  const { socket, owner, clock } = begin();
  owner.onFrame = () => void clock.advance(FRAMES_PHASE_MS / 40);
  socket.emit('data', numbered(0, 100));
  expect(socket.paused).toBe(true);
  expect(owner.frames.length).toBe(40); // the clock is read after every 8 frames
  socket.emit('data', numbered(100, 100));
  expect(owner.frames.length).toBe(40);
  await clock.settle();
  expect(owner.frames).toEqual(range(200));
  expect(socket.paused).toBe(false);
  expect(Math.max(...owner.slices.map((end, at) => end - (owner.slices[at - 1] ?? 0)))).toBeLessThanOrEqual(48);
});

test('a handler that tells how long it took uses the slice up before the clock is asked', async () => {
  const { socket, owner, clock, intake } = begin();
  owner.onFrame = () => {
    clock.advance(FRAMES_PHASE_MS / 2);
    intake.worked(FRAMES_PHASE_MS / 2, clock.nowMs());
  };
  socket.emit('data', numbered(0, 10));
  expect(owner.frames.length).toBe(2);
  await clock.settle();
  expect(owner.frames).toEqual(range(10));
  expect(owner.slices).toEqual([0, 2, 4, 6, 8, 10, 10]); // the first slice is for the preface
});

test('nothing is taken while the kernel does not take what was written', async () => {
  const { socket, owner, clock, intake } = begin();
  owner.onFrame = () => {
    owner.unsentBytes += OUTPUT_HELD_MAX_BYTES / 10;
  };
  socket.emit('data', numbered(0, 100));
  expect(owner.frames).toEqual(range(11));
  intake.sent(); // some bytes left, but not enough
  await clock.settle();
  expect(owner.frames.length).toBe(11);
  expect(socket.paused).toBe(true);
  owner.unsentBytes = 0;
  intake.sent();
  await clock.settle();
  expect(owner.frames).toEqual(range(22));
  owner.onFrame = () => {};
  owner.unsentBytes = 0;
  intake.sent();
  await clock.settle();
  expect(owner.frames).toEqual(range(100));
  expect(socket.paused).toBe(false);
});

test('behind its end nothing is taken, and what comes is read and dropped', async () => {
  const { socket, owner, clock, intake } = begin();
  owner.onFrame = () => {
    if (owner.frames.length === 5) intake.end();
  };
  socket.emit('data', numbered(0, 10));
  socket.emit('data', numbered(10, 10));
  await clock.settle();
  expect(owner.frames).toEqual(range(5));
  expect(socket.paused).toBe(false);
});

test('another preface is a fault', () => {
  const { socket, owner } = begin();
  expect(owner.faults).toBe(0);
  const other = new FakeSocket();
  const clock = new SimClock();
  new Intake(other, clock, new TransportShare(clock), unwatched, owner);
  other.emit('data', Buffer.from('PRI * HTTP/2.0\r\n\r\nXX'));
  expect(owner.faults).toBe(1);
  expect(socket.paused).toBe(false);
});

test('a turn takes only so much of all connections together, and all have their share of it', async () => {
  const clock = new SimClock();
  const turn = new TransportShare(clock);
  const connections = 20;
  const each = 64;
  const taken: { readonly connection: number; readonly atMs: number }[] = [];
  const turns: number[] = [];
  const sockets = range(connections).map((connection) => {
    const socket = new FakeSocket();
    const owner = new Owner();
    owner.onFrame = () => {
      taken.push({ connection, atMs: clock.nowMs() });
      clock.advance(FRAMES_SHARED_SLICE_MS / 32);
    };
    new Intake(socket, clock, turn, unwatched, owner);
    socket.emit('data', Buffer.from(CLIENT_PREFACE));
    return { socket, owner };
  });
  const look = (): void => {
    turns.push(clock.nowMs());
    if (taken.length < connections * each) clock.soon(look);
  };
  // One turn of the event loop brings a chunk on each connection.
  for (const { socket } of sockets) socket.emit('data', numbered(0, each));
  look();
  expect(clock.nowMs()).toBeLessThanOrEqual(FRAMES_PHASE_MS + FRAMES_SHARED_SLICE_MS);
  await clock.settle();
  for (const { owner, socket } of sockets) {
    expect(owner.frames).toEqual(range(each));
    expect(socket.paused).toBe(false);
  }
  const longest = Math.max(...turns.map((atMs, at) => atMs - (turns[at - 1] ?? 0)));
  expect(longest).toBeLessThanOrEqual(FRAMES_PHASE_MS + FRAMES_SHARED_SLICE_MS);
  // The first two had the first turn for themselves. Of the others, none finishes before the last has had a slice.
  const lastBegins = taken.find(({ connection }) => connection === connections - 1)!.atMs;
  const ends = range(connections).map((wanted) => taken.findLast(({ connection }) => connection === wanted)!.atMs);
  expect(ends.slice(2).filter((atMs) => atMs < lastBegins).length).toBe(0);
});

test('takes nothing more of a client that has gone, although its end waits for a slice', async () => {
  const { socket, owner, clock } = begin();
  owner.onFrame = () => clock.advance(FRAMES_PHASE_MS);
  socket.emit('data', numbered(0, 200));
  const taken = owner.frames.length;
  expect(taken).toBeLessThan(200);
  socket.destroyed = true;
  await clock.settle();
  expect(owner.frames).toHaveLength(taken);
});

test('input is known to have come by its first frames', async () => {
  const clock = new SimClock();
  const { transport } = new Loop({ clock, idleMs: () => 0 });
  const socket = new FakeSocket();
  new Intake(socket, clock, transport, unwatched, new Owner());
  socket.emit('data', Buffer.from(CLIENT_PREFACE));
  // What the runtime does for other sockets.
  clock.advance(TURN_MS);
  const sliceMs = await new Promise((resolve) => transport.waitForFrames(() => resolve(transport.frameSliceMs)));
  expect(sliceMs).toBe(LATE_PHASE_MS);
});
