import { expect, test } from 'vitest';
import { Prng, Scheduler, SimHost, SimNetwork } from '../index.ts';

function world(): { scheduler: Scheduler; host: (name: string) => SimHost } {
  const scheduler = new Scheduler({ random: new Prng(1) });
  return { scheduler, host: (name) => new SimHost(scheduler, { name, random: new Prng(2) }) };
}

test('nothing of a dead process fires, and the next one is not touched by it', async () => {
  const { scheduler, host } = world();
  const machine = host('one');
  const first = machine.start();
  const seen: string[] = [];
  first.clock.after(10, () => seen.push('timer of the first'));
  first.clock.soon(() => seen.push('turn of the first'));
  void first.delay(5).then(() => seen.push('storage of the first'));
  first.atEnd(() => seen.push('ended'));
  first.kill();
  first.kill();
  const second = machine.start();
  second.clock.after(10, () => seen.push('timer of the second'));
  first.clock.after(1, () => seen.push('of the dead'));
  await scheduler.pass(100);
  expect(seen).toEqual(['ended', 'timer of the second']);
  expect([first.generation, second.generation]).toEqual([1, 2]);
});

test('a paused process does nothing, and all that came due meanwhile, in its order, when it goes on', async () => {
  const { scheduler, host } = world();
  const process = host('one').start();
  const seen: string[] = [];
  const note = (what: string) => () => void seen.push(`${what} at ${process.clock.nowMs().toFixed(1)}`);
  process.clock.after(30, note('c'));
  process.clock.after(10, note('a'));
  const cancelled = process.clock.after(25, note('cancelled'));
  process.clock.after(20, () => {
    note('b')();
    cancelled.cancel(); // it was due, but had not fired
  });
  process.clock.after(200, note('d'));
  process.pause();
  await scheduler.pass(100);
  expect(seen).toEqual([]);
  process.resume();
  await scheduler.pass(1000);
  expect(seen).toEqual(['a at 100.0', 'b at 100.0', 'c at 100.0', 'd at 200.0']);
});

test('a process that is killed while it is paused does not come back', async () => {
  const { scheduler, host } = world();
  const process = host('one').start();
  let fired = false;
  process.clock.after(1, () => (fired = true));
  process.pause();
  await scheduler.pass(2);
  process.kill();
  process.resume();
  await scheduler.pass(2);
  expect(fired).toBe(false);
});

test('the jumps of a time of day outlive processes', () => {
  const machine = world().host('one');
  machine.start().kill();
  machine.jumpWall(5000);
  const process = machine.start();
  machine.jumpWall(100);
  expect(process.clock.wallMs()).toBe(5100);
});

test('a network loses, doubles, reorders and cuts one way, the same for the same seed', async () => {
  const run = async (seed: number): Promise<string> => {
    const { scheduler, host } = world();
    const [one, two] = [host('one'), host('two')];
    const network = new SimNetwork(new Prng(seed));
    const sender = one.start();
    two.start();
    network.faults = { delayMsMin: 1, delayMsMax: 20, lost: 0.2, twice: 0.2 };
    const seen: number[] = [];
    for (let message = 0; message < 40; message += 1) {
      network.send(sender, two, () => seen.push(message));
      await scheduler.pass(1);
    }
    network.cut(one, two);
    network.send(sender, two, () => seen.push(-1));
    network.send(two.process!, one, () => seen.push(1000));
    await scheduler.pass(100);
    return seen.join(' ');
  };
  const seen = await run(3);
  expect(await run(3)).toBe(seen);
  expect(await run(4)).not.toBe(seen);
  const messages = seen.split(' ').map(Number);
  expect(messages).not.toContain(-1); // cut
  expect(messages.some((message, at) => at > 0 && message < messages[at - 1]!)).toBe(true);
  expect(new Set(messages).size).toBeLessThan(messages.length); // doubled
  expect(new Set(messages).size).toBeLessThan(41); // lost
});

test('a message reaches the process that lives when it arrives, or nobody', async () => {
  const { scheduler, host } = world();
  const [one, two] = [host('one'), host('two')];
  const network = new SimNetwork(new Prng(1));
  network.faults = { delayMsMin: 10, delayMsMax: 10, lost: 0, twice: 0 };
  const sender = one.start();
  const seen: number[] = [];
  const send = (): void => network.send(sender, two, (receiver) => seen.push(receiver.generation));
  two.start().kill();
  send();
  await scheduler.pass(5);
  two.start();
  await scheduler.pass(10);
  two.process!.kill();
  send();
  await scheduler.pass(20);
  expect(seen).toEqual([2]);
});

test('what is sent surely waits for the way, and finds who lives there by then', async () => {
  const { scheduler, host } = world();
  const [one, two] = [host('one'), host('two')];
  const network = new SimNetwork(new Prng(1));
  const sender = one.start();
  two.start();
  network.cut(one, two);
  const seen: (number | undefined)[] = [];
  network.sendSurely(sender, two, (receiver) => seen.push(receiver?.generation));
  await scheduler.pass(1000);
  expect(seen).toEqual([]);
  two.process!.kill();
  two.start();
  network.heal(one, two);
  await scheduler.pass(1000);
  two.process!.kill();
  network.sendSurely(sender, two, (receiver) => seen.push(receiver?.generation));
  await scheduler.pass(1000);
  expect(seen).toEqual([2, undefined]);
});

test('a process that wakes may take what has come in another order', async () => {
  const { scheduler, host } = world();
  const process = host('one').start();
  const numbers = Array.from({ length: 20 }, (_, at) => at);
  const wake = async (order: Prng | undefined): Promise<readonly number[]> => {
    const seen: number[] = [];
    process.pause();
    for (const number of numbers) process.after(number, () => seen.push(number));
    await scheduler.pass(100);
    process.resume(order);
    await scheduler.pass(100);
    return seen;
  };
  expect(await wake(undefined)).toEqual(numbers);
  const shuffled = await wake(new Prng(5));
  expect(shuffled).not.toEqual(numbers);
  expect(shuffled.toSorted((left, right) => left - right)).toEqual(numbers);
});
