// Made by packages/protobuf/tools/generate.ts from proto/. Not edited by hand.
import { EMPTY_BYTES } from '@engram/core';
import { type Codec, decode, encode, type Init, type Reader, type Writer } from '@engram/protobuf';

export interface Frame {
  hello: Hello | undefined;
  messages: Uint8Array[];
  calls: Call[];
  cancelled: number[];
  ping: number;
}
export type FrameInit = Init<Frame>;

export const newFrame = (): Frame => ({ hello: undefined, messages: [], calls: [], cancelled: [], ping: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readFrame(r: Reader, message: Frame): Frame {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.hello = readHello(r, message.hello ?? newHello());
        r.leave(outer);
        break;
      }
      case 18:
        message.messages.push(r.bytes());
        break;
      case 26: {
        const outer = r.enter();
        message.calls.push(readCall(r, newCall()));
        r.leave(outer);
        break;
      }
      case 32:
        message.cancelled.push(r.uint64());
        break;
      case 34: {
        const outer = r.enterList();
        while (r.more()) message.cancelled.push(r.uint64());
        r.leave(outer);
        break;
      }
      case 40:
        message.ping = r.uint64();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeFrame(w: Writer, message: FrameInit): void {
  if (message.ping !== undefined && message.ping !== 0) {
    w.uint64(message.ping);
    w.varint(40);
  }
  if (message.cancelled !== undefined && message.cancelled.length > 0) {
    const end = w.length;
    for (let at = message.cancelled.length - 1; at >= 0; at -= 1) w.uint64(message.cancelled[at]!);
    w.varint(w.length - end);
    w.varint(34);
  }
  if (message.calls !== undefined && message.calls.length > 0) {
    for (let at = message.calls.length - 1; at >= 0; at -= 1) {
      const end = w.length;
      writeCall(w, message.calls[at]!);
      w.varint(w.length - end);
      w.varint(26);
    }
  }
  if (message.messages !== undefined && message.messages.length > 0) {
    for (let at = message.messages.length - 1; at >= 0; at -= 1) {
      w.bytes(message.messages[at]!);
      w.varint(18);
    }
  }
  if (message.hello !== undefined) {
    const end = w.length;
    writeHello(w, message.hello);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const FrameCodec: Codec<Frame, FrameInit> = {
  write: writeFrame,
  read: (r) => readFrame(r, newFrame()),
};
export const encodeFrame = (message: FrameInit): Uint8Array => encode(FrameCodec, message);
export const decodeFrame = (bytes: Uint8Array): Frame => decode(FrameCodec, bytes);

export interface Hello {
  cluster: bigint;
  from: bigint;
  to: bigint;
  store: bigint;
  founding: bigint;
}
export type HelloInit = Init<Hello>;

export const newHello = (): Hello => ({ cluster: 0n, from: 0n, to: 0n, store: 0n, founding: 0n, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readHello(r: Reader, message: Hello): Hello {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.cluster = r.bigUint64();
        break;
      case 16:
        message.from = r.bigUint64();
        break;
      case 24:
        message.to = r.bigUint64();
        break;
      case 32:
        message.store = r.bigUint64();
        break;
      case 40:
        message.founding = r.bigUint64();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeHello(w: Writer, message: HelloInit): void {
  if (message.founding !== undefined && message.founding !== 0n) {
    w.bigint(message.founding);
    w.varint(40);
  }
  if (message.store !== undefined && message.store !== 0n) {
    w.bigint(message.store);
    w.varint(32);
  }
  if (message.to !== undefined && message.to !== 0n) {
    w.bigint(message.to);
    w.varint(24);
  }
  if (message.from !== undefined && message.from !== 0n) {
    w.bigint(message.from);
    w.varint(16);
  }
  if (message.cluster !== undefined && message.cluster !== 0n) {
    w.bigint(message.cluster);
    w.varint(8);
  }
}

export const HelloCodec: Codec<Hello, HelloInit> = {
  write: writeHello,
  read: (r) => readHello(r, newHello()),
};
export const encodeHello = (message: HelloInit): Uint8Array => encode(HelloCodec, message);
export const decodeHello = (bytes: Uint8Array): Hello => decode(HelloCodec, bytes);

export interface Call {
  number: number;
  request: Uint8Array;
}
export type CallInit = Init<Call>;

export const newCall = (): Call => ({ number: 0, request: EMPTY_BYTES, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readCall(r: Reader, message: Call): Call {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.number = r.uint64();
        break;
      case 18:
        message.request = r.bytes();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeCall(w: Writer, message: CallInit): void {
  if (message.request !== undefined && message.request.length > 0) {
    w.bytes(message.request);
    w.varint(18);
  }
  if (message.number !== undefined && message.number !== 0) {
    w.uint64(message.number);
    w.varint(8);
  }
}

export const CallCodec: Codec<Call, CallInit> = {
  write: writeCall,
  read: (r) => readCall(r, newCall()),
};
export const encodeCall = (message: CallInit): Uint8Array => encode(CallCodec, message);
export const decodeCall = (bytes: Uint8Array): Call => decode(CallCodec, bytes);

export interface Answers {
  answers: CallAnswer[];
  messages: Uint8Array[];
  pong: number;
}
export type AnswersInit = Init<Answers>;

export const newAnswers = (): Answers => ({ answers: [], messages: [], pong: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAnswers(r: Reader, message: Answers): Answers {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.answers.push(readCallAnswer(r, newCallAnswer()));
        r.leave(outer);
        break;
      }
      case 18:
        message.messages.push(r.bytes());
        break;
      case 24:
        message.pong = r.uint64();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeAnswers(w: Writer, message: AnswersInit): void {
  if (message.pong !== undefined && message.pong !== 0) {
    w.uint64(message.pong);
    w.varint(24);
  }
  if (message.messages !== undefined && message.messages.length > 0) {
    for (let at = message.messages.length - 1; at >= 0; at -= 1) {
      w.bytes(message.messages[at]!);
      w.varint(18);
    }
  }
  if (message.answers !== undefined && message.answers.length > 0) {
    for (let at = message.answers.length - 1; at >= 0; at -= 1) {
      const end = w.length;
      writeCallAnswer(w, message.answers[at]!);
      w.varint(w.length - end);
      w.varint(10);
    }
  }
}

export const AnswersCodec: Codec<Answers, AnswersInit> = {
  write: writeAnswers,
  read: (r) => readAnswers(r, newAnswers()),
};
export const encodeAnswers = (message: AnswersInit): Uint8Array => encode(AnswersCodec, message);
export const decodeAnswers = (bytes: Uint8Array): Answers => decode(AnswersCodec, bytes);

export interface CallAnswer {
  number: number;
  answer: Uint8Array;
}
export type CallAnswerInit = Init<CallAnswer>;

export const newCallAnswer = (): CallAnswer => ({ number: 0, answer: EMPTY_BYTES, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readCallAnswer(r: Reader, message: CallAnswer): CallAnswer {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.number = r.uint64();
        break;
      case 18:
        message.answer = r.bytes();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeCallAnswer(w: Writer, message: CallAnswerInit): void {
  if (message.answer !== undefined && message.answer.length > 0) {
    w.bytes(message.answer);
    w.varint(18);
  }
  if (message.number !== undefined && message.number !== 0) {
    w.uint64(message.number);
    w.varint(8);
  }
}

export const CallAnswerCodec: Codec<CallAnswer, CallAnswerInit> = {
  write: writeCallAnswer,
  read: (r) => readCallAnswer(r, newCallAnswer()),
};
export const encodeCallAnswer = (message: CallAnswerInit): Uint8Array => encode(CallAnswerCodec, message);
export const decodeCallAnswer = (bytes: Uint8Array): CallAnswer => decode(CallAnswerCodec, bytes);

export interface FollowRequest {
  hello: Hello | undefined;
  from: number;
}
export type FollowRequestInit = Init<FollowRequest>;

export const newFollowRequest = (): FollowRequest => ({ hello: undefined, from: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readFollowRequest(r: Reader, message: FollowRequest): FollowRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.hello = readHello(r, message.hello ?? newHello());
        r.leave(outer);
        break;
      }
      case 16:
        message.from = r.uint64();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeFollowRequest(w: Writer, message: FollowRequestInit): void {
  if (message.from !== undefined && message.from !== 0) {
    w.uint64(message.from);
    w.varint(16);
  }
  if (message.hello !== undefined) {
    const end = w.length;
    writeHello(w, message.hello);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const FollowRequestCodec: Codec<FollowRequest, FollowRequestInit> = {
  write: writeFollowRequest,
  read: (r) => readFollowRequest(r, newFollowRequest()),
};
export const encodeFollowRequest = (message: FollowRequestInit): Uint8Array => encode(FollowRequestCodec, message);
export const decodeFollowRequest = (bytes: Uint8Array): FollowRequest => decode(FollowRequestCodec, bytes);

export interface Batches {
  batches: Batch[];
}
export type BatchesInit = Init<Batches>;

export const newBatches = (): Batches => ({ batches: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readBatches(r: Reader, message: Batches): Batches {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.batches.push(readBatch(r, newBatch()));
        r.leave(outer);
        break;
      }
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeBatches(w: Writer, message: BatchesInit): void {
  if (message.batches !== undefined && message.batches.length > 0) {
    for (let at = message.batches.length - 1; at >= 0; at -= 1) {
      const end = w.length;
      writeBatch(w, message.batches[at]!);
      w.varint(w.length - end);
      w.varint(10);
    }
  }
}

export const BatchesCodec: Codec<Batches, BatchesInit> = {
  write: writeBatches,
  read: (r) => readBatches(r, newBatches()),
};
export const encodeBatches = (message: BatchesInit): Uint8Array => encode(BatchesCodec, message);
export const decodeBatches = (bytes: Uint8Array): Batches => decode(BatchesCodec, bytes);

export interface Batch {
  first: number;
  records: Uint8Array[];
  more: boolean;
  chain: Uint8Array;
}
export type BatchInit = Init<Batch>;

export const newBatch = (): Batch => ({ first: 0, records: [], more: false, chain: EMPTY_BYTES, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readBatch(r: Reader, message: Batch): Batch {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.first = r.uint64();
        break;
      case 18:
        message.records.push(r.bytes());
        break;
      case 24:
        message.more = r.bool();
        break;
      case 34:
        message.chain = r.bytes();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeBatch(w: Writer, message: BatchInit): void {
  if (message.chain !== undefined && message.chain.length > 0) {
    w.bytes(message.chain);
    w.varint(34);
  }
  if (message.more === true) {
    w.varint(message.more ? 1 : 0);
    w.varint(24);
  }
  if (message.records !== undefined && message.records.length > 0) {
    for (let at = message.records.length - 1; at >= 0; at -= 1) {
      w.bytes(message.records[at]!);
      w.varint(18);
    }
  }
  if (message.first !== undefined && message.first !== 0) {
    w.uint64(message.first);
    w.varint(8);
  }
}

export const BatchCodec: Codec<Batch, BatchInit> = {
  write: writeBatch,
  read: (r) => readBatch(r, newBatch()),
};
export const encodeBatch = (message: BatchInit): Uint8Array => encode(BatchCodec, message);
export const decodeBatch = (bytes: Uint8Array): Batch => decode(BatchCodec, bytes);
