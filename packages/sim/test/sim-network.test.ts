import { Prng, Scheduler, SimHost, SimNetwork } from '@engram/sim';
import { expect, test } from 'vitest';

test('a muted way loses messages and keeps connections, in one direction, until it heals', async () => {
  const scheduler = new Scheduler({ random: new Prng(1) });
  const network = new SimNetwork(new Prng(2));
  const [one, two] = ['one', 'two'].map((name) => new SimHost(scheduler, { name, random: new Prng(3) }));
  const [here, there] = [one!.start(), two!.start()];
  const came: string[] = [];
  const sendAll = async (): Promise<readonly string[]> => {
    network.send(here, two!, () => came.push('message'));
    network.sendSurely(here, two!, () => came.push('bytes'));
    network.send(there, one!, () => came.push('message back'));
    await scheduler.pass(1000);
    return came.splice(0).sort();
  };
  network.mute(one!, two!);
  expect(await sendAll()).toEqual(['bytes', 'message back']);
  network.heal(one!, two!);
  expect(await sendAll()).toEqual(['bytes', 'message', 'message back']);
  network.mute(one!, two!);
  network.healAll();
  expect(await sendAll()).toEqual(['bytes', 'message', 'message back']);
});

test('what a connection sends over a way that stays cut is given up, and its sender is told', async () => {
  const scheduler = new Scheduler({ random: new Prng(1) });
  const network = new SimNetwork(new Prng(2));
  const [one, two] = ['one', 'two'].map((name) => new SimHost(scheduler, { name, random: new Prng(3) }));
  const here = one!.start();
  two!.start();
  const seen: string[] = [];
  const send = (): void =>
    network.sendSurely(
      here,
      two!,
      () => seen.push('came'),
      () => seen.push('given up'),
    );
  network.cut(one!, two!);
  send();
  await scheduler.pass(5000);
  network.heal(one!, two!);
  await scheduler.pass(1000);
  expect(seen.splice(0)).toEqual(['came']);
  network.cut(one!, two!);
  send();
  await scheduler.pass(20_000);
  network.heal(one!, two!);
  await scheduler.pass(20_000);
  expect(seen).toEqual(['given up']);
});
