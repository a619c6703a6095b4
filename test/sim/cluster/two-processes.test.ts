import { epoch } from '@engram/core';
import { expect, test } from 'vitest';
import { Processes } from './processes.ts';

const TAKEN_OVER = /another member was told to go on without it|by owner/;

test('a deposed leader and the process before a replaced member serve no linearizable read of an earlier state', async () => {
  const cluster = new Processes({ a: 1n, b: 2n, c: 3n });
  await cluster.run(async () => {
    cluster.start('a', 1n);
    cluster.start('b', 2n);
    cluster.start('c', 3n);
    await cluster.until(() => ['a', 'b', 'c'].every((name) => cluster.serves(name)));
    await cluster.moveLeader('a');
    await cluster.put('a', 'old');
    expect(await cluster.get('a')).toBe('old');
    expect(await cluster.get('b')).toBe('old');
    // The network divides {a, b} from {c}. b is believed dead: its replacement starts on c's side.
    for (const one of ['a', 'b']) for (const other of ['c', 'b-again']) cluster.cut(one, other);
    cluster.reach('c', 2n, 'b-again');
    cluster.start('b-again', 2n);
    await cluster.until(() => cluster.leads('c') || cluster.leads('b-again'));
    const leader = cluster.leads('c') ? 'c' : 'b-again';
    expect(cluster.leads('a')).toBe(true); // it has b's answers to its heartbeats
    await cluster.put(leader, 'new');
    const answers: string[] = [];
    for (let seconds = 0; seconds < 60; seconds += 1) {
      answers.push(...(await Promise.all([cluster.get('a'), cluster.get('b'), cluster.get('a')])));
      await cluster.wait(1000);
    }
    expect(answers).not.toContain('old');
    expect(await cluster.get('c')).toBe('new');
    expect(cluster.leads('a')).toBe(false);
    expect(cluster.ended.get('b')).toMatch(TAKEN_OVER);
    expect([...cluster.ended.keys()]).toEqual(['b']);
  });
});

test('the only member’s process before its replacement serves no read, and ends', async () => {
  const cluster = new Processes({ b: 2n });
  await cluster.run(async () => {
    cluster.start('b', 2n);
    await cluster.until(() => cluster.serves('b'));
    await cluster.put('b', 'old');
    cluster.start('b-again', 2n);
    await cluster.until(() => cluster.serves('b-again'));
    await cluster.put('b-again', 'new');
    expect(await cluster.get('b')).not.toBe('old');
    await cluster.until(() => cluster.ended.has('b'));
    expect(cluster.ended.get('b')).toMatch(TAKEN_OVER);
    expect(await cluster.get('b-again')).toBe('new');
  });
});

test('members that live on while another one goes on alone serve no earlier state, write nothing, and end', async () => {
  const members = { a: 1n, b: 2n, c: 3n };
  const cluster = new Processes(members);
  await cluster.run(async () => {
    for (const [name, id] of Object.entries(members)) cluster.start(name, id);
    await cluster.until(() => ['a', 'b', 'c'].every((name) => cluster.serves(name)));
    await cluster.moveLeader('a');
    await cluster.put('a', 'old');
    cluster.cut('a', 'c');
    cluster.cut('b', 'c');
    await cluster.startAlone('c', 3n);
    await cluster.until(() => cluster.leads('c'));
    await cluster.put('c', 'new');
    expect(cluster.leads('a')).toBe(true);
    expect([await cluster.get('b'), await cluster.get('a')]).not.toContain('old');
    await cluster.until(() => cluster.ended.has('a') || cluster.ended.has('b')); // whichever gives a vote first
    for (let seconds = 0; seconds < 30; seconds += 1) {
      expect([await cluster.get('b'), await cluster.get('a')]).not.toContain('old');
      await cluster.wait(1000);
    }
    expect([cluster.leads('a'), cluster.leads('b')]).toEqual([false, false]);
    cluster.network.healAll();
    await cluster.until(() => cluster.ended.size === 2);
    for (const why of cluster.ended.values()) expect(why === 'removed' || TAKEN_OVER.test(why)).toBe(true);
    expect(await cluster.get('c')).toBe('new');
    await cluster.put('c', 'newer');
    expect(await cluster.get('c')).toBe('newer');
    expect(cluster.log.sealed.holder).toBe(3n);
  });
});

test('the only member’s process before its replacement ends within seconds, though nobody calls it', async () => {
  const cluster = new Processes({ b: 2n });
  await cluster.run(async () => {
    cluster.start('b', 2n);
    await cluster.until(() => cluster.serves('b'));
    await cluster.wait(20_000);
    expect(cluster.leads('b')).toBe(true);
    cluster.start('b-again', 2n);
    await cluster.until(() => cluster.ended.has('b'), 8000);
    expect(cluster.ended.get('b')).toMatch(TAKEN_OVER);
    await cluster.until(() => cluster.serves('b-again'));
  });
});

test('a leader that nobody calls learns within seconds that the log is another one’s', async () => {
  const cluster = new Processes({ a: 1n, b: 2n, c: 3n });
  await cluster.run(async () => {
    for (const [name, id] of Object.entries({ a: 1n, b: 2n, c: 3n })) cluster.start(name, id);
    await cluster.until(() => ['a', 'b', 'c'].every((name) => cluster.serves(name)));
    await cluster.moveLeader('a');
    await cluster.wait(7000);
    // Whoever it is: Raft knows nothing of it.
    const { sealed } = cluster.log;
    cluster.log.seal({ epoch: epoch(sealed.epoch + 1), holder: 99n });
    expect(cluster.leads('a')).toBe(true);
    // Its leadership ends, and whoever is elected next seals the log anew.
    await cluster.until(() => cluster.log.sealed.holder !== 99n, 8000);
    expect(cluster.ended).toEqual(new Map());
  });
});
