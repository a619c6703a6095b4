import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { PromisesByTicket } from '../src/driver/promises-by-ticket.ts';

test('thousands wait with one signal by one listener, and leave none', async () => {
  const promises = new PromisesByTicket<string>();
  const [one, other] = [new AbortController(), new AbortController()];
  const tickets: number[] = [];
  const wait = (signal: AbortSignal): Promise<string> =>
    promises.wait(signal, undefined, (ticket) => tickets.push(ticket));
  const listeners = (): number[] => [one, other].map(({ signal }) => getEventListeners(signal, 'abort').length);
  const many = Array.from({ length: 5000 }, () => wait(one.signal));
  const alone = wait(other.signal);
  expect(listeners()).toEqual([1, 1]);
  for (const ticket of tickets) promises.resolve(ticket, `done ${ticket}`);
  expect(await Promise.all([...many, alone])).toEqual(tickets.map((ticket) => `done ${ticket}`));
  expect(listeners()).toEqual([0, 0]);
});

test('all that wait with a signal end by it, and nobody else', async () => {
  const promises = new PromisesByTicket<string>();
  const [one, other] = [new AbortController(), new AbortController()];
  const tickets: number[] = [];
  const wait = (signal: AbortSignal): Promise<string> =>
    promises.wait(signal, undefined, (ticket) => tickets.push(ticket));
  const ending = [wait(one.signal), wait(one.signal)];
  const staying = wait(other.signal);
  const outcomes = Promise.allSettled(ending);
  one.abort(new Error('enough'));
  for (const outcome of await outcomes) expect(outcome).toMatchObject({ reason: { message: 'enough' } });
  expect(promises.tickets()).toEqual([tickets[2]]);
  promises.resolve(tickets[0]!, 'too late');
  promises.resolve(tickets[2]!, 'in time');
  expect(await staying).toBe('in time');
  await expect(wait(one.signal)).rejects.toThrow('enough');
  expect(tickets).toHaveLength(3);
});

test('what a promise is about is forgotten with it, however it ends', async () => {
  const promises = new PromisesByTicket<void, string>();
  const abort = new AbortController();
  const tickets: number[] = [];
  const wait = (about: string): Promise<void> =>
    promises.wait(abort.signal, about, (ticket) => void tickets.push(ticket));
  const ended = Promise.allSettled(['done', 'refused', 'late'].map(wait));
  expect(promises.waiting()).toEqual([
    [tickets[0], 'done'],
    [tickets[1], 'refused'],
    [tickets[2], 'late'],
  ]);
  promises.resolve(tickets[0]!, undefined);
  promises.reject(tickets[1]!, new Error('no'));
  expect(promises.waiting()).toEqual([[tickets[2], 'late']]);
  abort.abort();
  await ended;
  expect(promises.waiting()).toEqual([]);
});
