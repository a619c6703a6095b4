import { Worker } from 'node:worker_threads';
import type { compareSync, hashSync } from 'bcryptjs';
import { assert } from '@engram/core';
import { bcryptSource } from './bcrypt-source.ts';

/** A hash takes tens of milliseconds or more, so it is made in a thread. Answers come in order. */
const SOURCE = `
  const { parentPort, workerData } = process.getBuiltinModule('node:worker_threads');
  const url = 'data:text/javascript;base64,' + Buffer.from(workerData).toString('base64');
  const library = import(url);
  parentPort.on('message', async ({ password, hash, cost }) => {
    try {
      const { default: bcrypt } = await library;
      const answer = hash === undefined ? bcrypt.hashSync(password, cost) : bcrypt.compareSync(password, hash);
      parentPort.postMessage({ answer });
    } catch {
      parentPort.postMessage({ answer: undefined });
    }
  });
`;

interface Question {
  readonly password: string;
  /** Undefined: a hash is to be made. */
  readonly hash: string | undefined;
  readonly cost: number;
}

/** Undefined: the library has failed. */
type Answer = ReturnType<typeof hashSync> | ReturnType<typeof compareSync> | undefined;

interface Waiting {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/** bcrypt's costs (golang.org/x/crypto/bcrypt). */
export const BCRYPT_COST_MIN = 4;
export const BCRYPT_COST_MAX = 31;

/**
 * Hashes passwords outside of the event loop. Whoever waits is answered in the order of the questions. The thread begins with the
 * first question, and keeps no process alive while nobody waits. The texts of errors name no password.
 */
export class BcryptThread {
  readonly #cost: number;
  #worker: Worker | undefined;
  #waiting: Waiting[] = [];

  constructor(cost: number) {
    assert(cost >= BCRYPT_COST_MIN && cost <= BCRYPT_COST_MAX, 'a cost that bcrypt does not know');
    this.#cost = cost;
  }

  async hash(password: string): Promise<Uint8Array> {
    const answer = await this.#ask({ password, hash: undefined, cost: this.#cost });
    assert(typeof answer === 'string', 'bcrypt made no hash');
    return Buffer.from(answer);
  }

  /** False also if `hash` is no hash. */
  async matches(hash: Uint8Array, password: string): Promise<boolean> {
    return (await this.#ask({ password, hash: Buffer.from(hash).toString('latin1'), cost: this.#cost })) === true;
  }

  #ask(question: Question): Promise<Answer> {
    this.#worker ??= this.#begin();
    const worker = this.#worker;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      worker.ref();
      worker.postMessage(question);
    });
  }

  #begin(): Worker {
    const worker = new Worker(SOURCE, { eval: true, workerData: bcryptSource(), name: 'bcrypt' });
    worker.on('message', ({ answer }: { readonly answer: Answer }) => {
      this.#waiting.shift()?.resolve(answer);
      if (this.#waiting.length === 0) worker.unref();
    });
    worker.on('error', (cause) => this.#ended(worker, new Error('the thread of bcrypt has failed', { cause })));
    worker.on('exit', () => this.#ended(worker, new Error('the thread of bcrypt has ended')));
    return worker;
  }

  /** The next question begins another thread. */
  #ended(worker: Worker, error: Error): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }
}
