import { describe, expect, test, vi } from 'vitest';
import { Limiter } from '../src/limiter.ts';
import { Mutex } from '../src/mutex.ts';
import { Waiters } from '../src/waiters.ts';

/** Lets all microtasks run that are there, and those that they make. */
const settle = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

describe('a mutex', () => {
  test('runs one task at a time, in the order of the calls', async () => {
    const mutex = new Mutex();
    const seen: string[] = [];
    const task = (name: string) => async (): Promise<string> => {
      seen.push(`${name} begins`);
      await settle();
      seen.push(`${name} ends`);
      return name;
    };
    const both = [mutex.run(task('a')), mutex.run(task('b'))];
    expect(seen, 'nothing begins within the call').toEqual([]);
    expect(await Promise.all(both)).toEqual(['a', 'b']);
    expect(seen).toEqual(['a begins', 'a ends', 'b begins', 'b ends']);
  });

  test('goes on after a task that rejects or throws, whose outcome its own caller gets', async () => {
    const mutex = new Mutex();
    const failing = mutex.run(() => Promise.reject(new Error('later')));
    const throwing = mutex.run(() => {
      throw new Error('at once');
    });
    const next = mutex.run(() => 7);
    await expect(failing).rejects.toThrow('later');
    await expect(throwing).rejects.toThrow('at once');
    expect(await next).toBe(7);
  });

  test('is idle when every task before has settled, also one that rejected', async () => {
    const mutex = new Mutex();
    let done = false;
    const failing = mutex.run(async () => {
      await settle();
      done = true;
      throw new Error('the end');
    });
    failing.catch(() => {});
    await mutex.idle();
    expect(done).toBe(true);
  });
});

describe('waiters', () => {
  test('are woken together, in their order, and once', async () => {
    const waiters = new Waiters();
    const woken: number[] = [];
    for (const number of [1, 2, 3]) void waiters.next().then(() => woken.push(number));
    await settle();
    expect(woken).toEqual([]);
    waiters.wakeAll();
    await settle();
    expect(woken).toEqual([1, 2, 3]);
    waiters.wakeAll();
    await settle();
    expect(woken).toEqual([1, 2, 3]);
  });

  test('that wait again wait for the next time', async () => {
    const waiters = new Waiters();
    let left = 2;
    const ready = (async () => {
      while (left > 0) await waiters.next();
    })();
    for (; left > 0; left -= 1) {
      waiters.wakeAll();
      await settle();
    }
    waiters.wakeAll();
    await ready;
  });
});

describe('a limiter', () => {
  test('runs so many tasks at a time, the others in the order of their calls', async () => {
    const limiter = new Limiter(2);
    const ends: (() => void)[] = [];
    const begun: number[] = [];
    const tasks = [0, 1, 2, 3].map((number) =>
      limiter.run(() => {
        begun.push(number);
        return new Promise<void>((resolve) => (ends[number] = resolve));
      }),
    );
    await settle();
    expect(begun).toEqual([0, 1]);
    ends[1]!();
    await settle();
    expect(begun).toEqual([0, 1, 2]);
    ends[0]!();
    ends[2]!();
    await settle();
    expect(begun).toEqual([0, 1, 2, 3]);
    ends[3]!();
    await Promise.all(tasks);
  });

  test('gives the place of a task that rejects to the next one', async () => {
    const limiter = new Limiter(1);
    const failing = limiter.run(() => Promise.reject(new Error('no')));
    const next = limiter.run(async () => 5);
    await expect(failing).rejects.toThrow('no');
    expect(await next).toBe(5);
  });

  test('never begins a task whose signal aborts while it waits, and takes no place for it', async () => {
    const limiter = new Limiter(1);
    let end: (() => void) | undefined;
    const running = limiter.run(() => new Promise<void>((resolve) => (end = resolve)));
    const abort = new AbortController();
    const given = limiter.run(() => expect.unreachable(), abort.signal);
    const next = limiter.run(async () => 6, new AbortController().signal);
    abort.abort(new Error('given up'));
    await expect(given).rejects.toThrow('given up');
    await expect(limiter.run(() => expect.unreachable(), abort.signal)).rejects.toThrow('given up');
    end!();
    await running;
    expect(await next).toBe(6);
    expect(await limiter.run(async () => 7)).toBe(7);
  });

  test('has one listener at a signal, however many tasks wait with it, and none when they have begun', async () => {
    const limiter = new Limiter(1);
    const { signal } = new AbortController();
    const added = vi.spyOn(signal, 'addEventListener');
    const removed = vi.spyOn(signal, 'removeEventListener');
    const numbers = Array.from({ length: 100 }, (_, at) => at);
    const tasks = numbers.map((number) => limiter.run(async () => number, signal));
    expect(added).toHaveBeenCalledOnce();
    expect(await Promise.all(tasks)).toEqual(numbers);
    expect(removed).toHaveBeenCalledOnce();
    expect(removed.mock.lastCall?.[1]).toBe(added.mock.lastCall?.[1]);
  });

  test('refuses all tasks that wait with an aborted signal, and listens again for a later one', async () => {
    const limiter = new Limiter(1);
    const [one, other] = [new AbortController(), new AbortController()];
    const end = Promise.withResolvers<void>();
    const running = limiter.run(() => end.promise);
    const given = [0, 1, 2].map(() => limiter.run(() => expect.unreachable(), one.signal));
    const kept = limiter.run(async () => 8, other.signal);
    one.abort(new Error('given up'));
    for (const task of given) await expect(task).rejects.toThrow('given up');
    end.resolve();
    await running;
    expect(await kept).toBe(8);
    const again = limiter.run(() => new Promise<void>(() => {}));
    const last = limiter.run(() => expect.unreachable(), other.signal);
    other.abort(new Error('given up too'));
    await expect(last).rejects.toThrow('given up too');
    void again;
  });
});
