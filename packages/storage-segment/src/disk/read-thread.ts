import { Worker } from 'node:worker_threads';
import { assert } from '@engram/core';
import type { BulkReader, ByteRange, StorageFile } from './file-system.ts';

/** A buffer up to this size is kept for later reads: a group of records, of which the last one may have the size of a request. */
const KEPT_BYTES_MAX = 6 << 20;

/**
 * The source of the thread. It is a string, because a release is one file, without a second one to start a thread from.
 * The thread answers in order. An answer returns the array `bytes`, filled, and the error if there was one.
 */
const SOURCE = `
  const { readSync } = process.getBuiltinModule('node:fs');
  const { parentPort } = process.getBuiltinModule('node:worker_threads');
  parentPort.on('message', ({ places, bytes }) => {
    let error;
    const startMs = performance.now();
    try {
      for (let at = 0, from = 0; at < places.length; at += 3) {
        const read = readSync(places[at], bytes, from, places[at + 2], places[at + 1]);
        if (read < places[at + 2]) throw new Error('a read has ended early');
        from += read;
      }
    } catch (cause) {
      error = String(cause);
    }
    parentPort.postMessage({ bytes, error, tookMs: performance.now() - startMs }, [bytes.buffer]);
  });
`;

interface Answer {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly error: string | undefined;
  readonly tookMs: number;
}

interface Waiting {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * A thread for reads. In Node's own thread pool, each read is a task with two wake-ups, which cost more than the read:
 * 3 us on an idle machine, above 10 us on a busy one. Here all reads come in one message, and each costs 2 us.
 */
export class ReadThread implements BulkReader {
  readonly #fdOf: (file: StorageFile) => number;
  #worker: Worker | undefined;
  #online = false;
  #waiting: Waiting[] = [];
  #kept: Uint8Array<ArrayBuffer> | undefined;
  #failure: Error | undefined;

  constructor(fdOf: (file: StorageFile) => number) {
    this.#fdOf = fdOf;
  }

  get ready(): boolean {
    if (this.#failure !== undefined) return false;
    try {
      this.#worker ??= this.#begin();
    } catch (cause) {
      // The system has no thread left for this process.
      this.#failure = new Error('the thread that reads cannot begin', { cause });
      return false;
    }
    return this.#online;
  }

  async read(places: readonly ByteRange[], use: (bytes: Uint8Array) => void | Promise<void>): Promise<number> {
    if (this.#failure !== undefined) throw this.#failure;
    const numbers = new Float64Array(places.length * 3);
    let length = 0;
    for (const [index, place] of places.entries()) {
      numbers[index * 3] = this.#fdOf(place.file);
      numbers[index * 3 + 1] = place.offset;
      numbers[index * 3 + 2] = place.length;
      length += place.length;
    }
    const { bytes, tookMs } = await this.#ask(numbers, this.#take(length));
    await use(bytes.subarray(0, length));
    if (bytes.length <= KEPT_BYTES_MAX) this.#kept = bytes;
    return tookMs;
  }

  async close(): Promise<void> {
    this.#failure ??= new Error('the thread that reads has ended');
    // A read may be under way that its caller has given up. Answers come in order, so the next one is the last.
    if (this.#waiting.length > 0) await this.#ask(new Float64Array(), new Uint8Array()).catch(() => {});
    // Otherwise nothing may keep the process alive until the thread has ended, and it would end before the rest is closed.
    this.#worker?.ref();
    await this.#worker?.terminate();
  }

  #take(length: number): Uint8Array<ArrayBuffer> {
    const kept = this.#kept;
    this.#kept = undefined;
    if (kept !== undefined && kept.length >= length) return kept;
    return new Uint8Array(Buffer.allocUnsafeSlow(Math.max(length, 256 << 10)).buffer);
  }

  #ask(places: Float64Array<ArrayBuffer>, bytes: Uint8Array<ArrayBuffer>): Promise<Answer> {
    this.#worker ??= this.#begin();
    const worker = this.#worker;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      // The worker keeps the process alive only while a request waits for it.
      worker.ref();
      worker.postMessage({ places, bytes }, [places.buffer, bytes.buffer]);
    });
  }

  #begin(): Worker {
    const worker = new Worker(SOURCE, { eval: true, execArgv: [], env: {} });
    worker.unref();
    worker.on('online', () => {
      this.#online = true;
    });
    worker.on('message', (answer: Answer) => {
      const waiting = this.#waiting.shift();
      assert(waiting !== undefined, 'an answer that nobody waits for');
      if (this.#waiting.length === 0) worker.unref();
      if (answer.error === undefined) waiting.resolve(answer);
      else waiting.reject(new Error(answer.error));
    });
    const onEnd = (cause?: unknown): void => {
      this.#failure ??= new Error('the thread that reads has ended', { cause });
      for (const { reject } of this.#waiting.splice(0)) reject(this.#failure);
    };
    worker.on('error', onEnd);
    worker.on('exit', () => onEnd());
    return worker;
  }
}
