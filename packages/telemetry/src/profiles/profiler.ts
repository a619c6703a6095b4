import { Session } from 'node:inspector/promises';
import { assert, type Clock } from '@engram/core';
import type { Loop, Task } from '@engram/loop';
import { cpuPprof, heapPprof, isHeapProfile } from './pprof.ts';
import { gzipped } from './pprof-builder.ts';

/** As Go: a hundred samples in a second, one object in 512 KiB. */
const CPU_INTERVAL_US = 10_000;
const HEAP_INTERVAL_BYTES = 512 * 1024;
export const CPU_SECONDS_MAX = 300;

const CONVERT: Task = { work: 'background', caller: 'profiles', stage: 'profile' };

/** `pprof`: gzipped, for `go tool pprof`. `chrome`: JSON, for the developer tools of Chrome (.cpuprofile, .heapprofile). */
export type ProfileFormat = 'pprof' | 'chrome';

/** Another profile of the CPU is being taken. */
export class ProfilerBusy extends Error {
  override readonly name = 'ProfilerBusy';
}

/**
 * Profiles of this process, by V8's own profilers. While it is open, V8 samples the objects that are made, which costs little. Profiles
 * of the CPU are taken one at a time; to end one keeps the event loop for as long as V8 needs to hand it over.
 */
export class Profiler implements Disposable {
  readonly #session = new Session();
  readonly #clock: Clock;
  readonly #loop: Loop;
  readonly #closed = new AbortController();
  #busy = false;
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(clock: Clock, loop: Loop) {
    this.#clock = clock;
    this.#loop = loop;
  }

  static async open(clock: Clock, loop: Loop): Promise<Profiler> {
    const profiler = new Profiler(clock, loop);
    const session = profiler.#session;
    session.connect();
    await session.post('HeapProfiler.enable');
    await session.post('HeapProfiler.startSampling', { samplingInterval: HEAP_INTERVAL_BYTES });
    return profiler;
  }

  /**
   * What the CPU does for so many seconds, at most CPU_SECONDS_MAX. Undefined: `signal` aborted. Ends earlier at `end`.
   * Error: ProfilerBusy.
   */
  async cpu(seconds: number, format: ProfileFormat, signal: AbortSignal): Promise<Uint8Array | undefined> {
    if (this.#busy) throw new ProfilerBusy('cpu profiling already in use');
    this.#busy = true;
    try {
      await this.#session.post('Profiler.enable');
      await this.#session.post('Profiler.setSamplingInterval', { interval: CPU_INTERVAL_US });
      const startMs = Date.now();
      await this.#session.post('Profiler.start');
      await this.#passed(Math.min(seconds, CPU_SECONDS_MAX) * 1000, signal);
      const { profile } = await this.#session.post('Profiler.stop');
      if (signal.aborted) return undefined;
      if (format === 'chrome') return Buffer.from(JSON.stringify(profile));
      return await gzipped(
        await this.#loop.run(CONVERT, cpuPprof(profile, CPU_INTERVAL_US, startMs, this.#loop), signal),
      );
    } finally {
      await this.#session.post('Profiler.disable').catch(() => undefined);
      this.#busy = false;
    }
  }

  /** The objects that live now, of those made since `open`. One call after another. */
  heap(format: ProfileFormat, signal: AbortSignal): Promise<Uint8Array> {
    const made = this.#turn.then(() => this.#heap(format, signal));
    this.#turn = made.catch(() => undefined);
    return made;
  }

  async #heap(format: ProfileFormat, signal: AbortSignal): Promise<Uint8Array> {
    const { profile } = await this.#session.post('HeapProfiler.getSamplingProfile');
    if (format === 'chrome') return Buffer.from(JSON.stringify(profile));
    assert(isHeapProfile(profile), 'V8 gave no samples');
    return await gzipped(
      await this.#loop.run(CONVERT, heapPprof(profile, HEAP_INTERVAL_BYTES, Date.now(), this.#loop), signal),
    );
  }

  /** Ends the profile that is being taken: it is answered as it is. */
  end(): void {
    this.#closed.abort();
  }

  [Symbol.dispose](): void {
    this.end();
    this.#session.disconnect();
  }

  #passed(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const over = (): void => {
        timer.cancel();
        signal.removeEventListener('abort', over);
        this.#closed.signal.removeEventListener('abort', over);
        resolve();
      };
      const timer = this.#clock.after(ms, over);
      if (signal.aborted || this.#closed.signal.aborted) {
        over();
        return;
      }
      signal.addEventListener('abort', over, { once: true });
      this.#closed.signal.addEventListener('abort', over, { once: true });
    });
  }
}
