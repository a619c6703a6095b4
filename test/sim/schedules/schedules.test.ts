import { expect, test } from 'vitest';
import { Finding } from '../judge/finding.ts';
import { batchAt, sealOf } from './board.ts';
import { explore, type Game, playOnce } from './explore.ts';
import { games } from './games.ts';

test.each(games)(
  '$name: what is answered is so, without a preemption and in the first schedules with one',
  {
    timeout: 120_000,
  },
  async (game) => {
    const { finding, requestsMax } = await explore(game, 1, 8);
    expect(finding && `${finding.schedule}: ${String(finding.error)}`).toBeUndefined();
    expect(requestsMax).toBeGreaterThan(4);
  },
);

/** Two players that each ask twice. The list says in which order the requests were let through. */
function counting(orders: string[]): Game {
  return {
    name: 'two that ask twice',
    async set(board) {
      const players = [await board.join('a', 1n), await board.join('b', 2n)];
      let order = '';
      board.stores.script(({ command, context }) => {
        if (command === 'Get' && order.length < 4) order += context?.requestSource;
        if (order.length === 4) orders.push(order);
        return undefined;
      });
      const twice = async (at: number): Promise<void> => {
        const { client } = players[at]!;
        for (const text of ['one', 'two']) await client.get(Buffer.from(text));
      };
      await Promise.all(players.map(({ client }) => client.get(Buffer.from('where the region is'))));
      order = '';
      return players.map((player, at) => ({ player, play: () => twice(at) }));
    },
  };
}

test('every order with at most so many preemptions is played once', async () => {
  const none: string[] = [];
  expect(await explore(counting(none), 0, 100)).toMatchObject({ schedules: 2, whole: true, finding: undefined });
  expect(new Set(none)).toEqual(new Set(['aabb', 'bbaa']));
  const one: string[] = [];
  expect(await explore(counting(one), 1, 100)).toMatchObject({ schedules: 4, whole: true });
  expect(new Set(one)).toEqual(new Set(['aabb', 'bbaa', 'abba', 'baab']));
  const two: string[] = [];
  expect(await explore(counting(two), 2, 100)).toMatchObject({ schedules: 6, whole: true });
  expect(new Set(two).size).toBe(6);
});

test('a schedule is played again from its choices, and its finding is told', async () => {
  const broken: Game = {
    name: 'broken in one order',
    async set(board) {
      const [one, two] = [await board.join('a', 1n), await board.join('b', 2n)];
      await one.storage.log.seal(sealOf(1, 1n));
      let isFirst = true;
      return [
        { player: one, play: async () => void (await one.storage.log.append(batchAt(1, 'a'), sealOf(1, 1n))) },
        {
          player: two,
          play: async () => {
            await two.client.get(board.keys.root);
            isFirst = board.log.length === 0;
            if (isFirst) throw new Finding('answer', 'b was first');
          },
        },
      ];
    },
  };
  const { finding } = await explore(broken, 1, 100);
  expect(finding?.error).toMatchObject({ message: 'b was first' });
  const choices = [...finding!.schedule].map(Number);
  expect((await playOnce(broken, choices, 1)).error).toMatchObject({ message: 'b was first' });
});
