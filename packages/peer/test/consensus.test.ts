import type { PeerService } from '@engram/member';
import { PeerLinks, type PeerServer } from '@engram/peer';
import { type Job, Loop, StepPace, type Task } from '@engram/loop';
import { quiet, realClock } from '@engram/sim';
import { afterEach, expect, test } from 'vitest';
import { Echo, servePlain } from './echo.ts';

/* Members must hear from each other while the event loop is busy. The turns of the loop are the test's: until it gives one,
   nothing goes on that has given way. */

const CLUSTER = 0xc1n;
const KEYS = 100_000;
const CALLS = 1000;
const SLICE_STEPS = 1000;
const LIST: Task = { work: 'client', caller: 'a connection', stage: 'list', method: '/etcdserverpb.KV/Range' };
const utf8 = (text: string): Uint8Array => Buffer.from(text);

let closing = new AsyncDisposableStack();
afterEach(async () => {
  await closing.disposeAsync();
  closing = new AsyncDisposableStack();
});

class BusyLoop {
  readonly loop: Loop;
  readonly log: string[] = [];
  #due: (() => void)[] = [];

  constructor() {
    const clock = { nowMs: () => performance.now(), soon: (fire: () => void) => void this.#due.push(fire) };
    this.loop = new Loop({ clock, pace: new StepPace(SLICE_STEPS) });
  }

  *list(): Job<string> {
    for (let key = 0; key < KEYS; key += 1) {
      if (!this.loop.shouldYield()) continue;
      this.log.push('list');
      yield;
    }
    return 'the list';
  }

  /** Gives turns until the promise has settled. Promises run between two callbacks, as they do in Node's. */
  async until<Result>(promise: Promise<Result>): Promise<Result> {
    let over = false;
    const ended = promise.finally(() => {
      over = true;
    });
    while (!over) {
      this.#due.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
    return await ended;
  }
}

/** Answers each message of Raft, and notes what it hears. */
class Follower extends Echo {
  readonly #log: string[];
  server: PeerServer | undefined;

  constructor(log: string[]) {
    super();
    this.#log = log;
  }

  override message(...[bytes, speaker]: Parameters<PeerService['message']>): string | undefined {
    const text = Buffer.from(bytes).toString();
    this.#log.push(text);
    if (text === 'heartbeat') this.server!.send(speaker.member, utf8('heard'));
    return super.message(bytes, speaker);
  }

  override call(...[request, caller]: Parameters<PeerService['call']>): Promise<Uint8Array> {
    this.#log.push('call');
    return super.call(request, caller);
  }
}

async function follower(): Promise<{ busy: BusyLoop; follower: Follower; leader: Echo; links: PeerLinks }> {
  const busy = new BusyLoop();
  const service = new Follower(busy.log);
  const { server, port } = await servePlain({ clusterId: CLUSTER, service, loop: busy.loop });
  closing.use(server);
  service.server = server;
  const leader = new Echo();
  const own = { clusterId: CLUSTER, memberId: 1n, storeId: 5n, tls: undefined };
  const links = closing.use(new PeerLinks({ ...own, clock: realClock, logger: quiet, service: () => leader }));
  links.setMembers([{ id: 2n, peerUrls: [`http://127.0.0.1:${port}`] }]);
  await leader.until(() => leader.links.includes('connected 2'));
  return { busy, follower: service, leader, links };
}

test('a heartbeat is answered in the turn in which it comes, beside a list of 100,000 keys and a thousand calls', async () => {
  const { busy, leader, links } = await follower();
  const list = Promise.resolve(busy.loop.run(LIST, busy.list()));
  const calls = Promise.all(Array.from({ length: CALLS }, (_, at) => links.call(2n, utf8(`${at}`))));
  // The frame of the calls leaves before that of the heartbeat.
  await new Promise((resolve) => setImmediate(resolve));
  links.send(2n, utf8('heartbeat'));
  await leader.until(() => leader.messages.includes('heard'));
  expect(busy.log.filter((what) => what === 'list').length, 'slices of the list').toBe(1);
  const begun = busy.log.filter((what) => what === 'call').length;
  expect(begun, 'calls that have begun').toBeGreaterThan(0);
  expect(begun).toBeLessThan(CALLS / 2);
  const answers = await busy.until(calls);
  expect(answers.map((bytes) => Buffer.from(bytes).toString())).toEqual(
    Array.from({ length: CALLS }, (_, at) => `answer to ${at}`),
  );
  expect(await busy.until(list)).toBe('the list');
});

test('more messages than a slice is enough for go on before anything else', async () => {
  const { busy, follower: service, links } = await follower();
  const list = Promise.resolve(busy.loop.run(LIST, busy.list()));
  const calls = links.call(2n, utf8('a call'));
  for (let at = 0; at < 300; at += 1) links.send(2n, utf8(`m${at}`));
  await service.until(() => service.messages.length > 0);
  await new Promise((resolve) => setImmediate(resolve));
  const heard = service.messages.length;
  expect(heard).toBeLessThan(300);
  expect(busy.loop.waiting('consensus')).toBe(1);
  await busy.until(service.until(() => service.messages.length > heard));
  expect(busy.log.filter((what) => what === 'list').length, 'slices of the list').toBe(1);
  await busy.until(service.until(() => service.messages.length === 300));
  expect(service.messages, 'in their order').toEqual(Array.from({ length: 300 }, (_, at) => `m${at}`));
  await busy.until(Promise.all([list, calls]));
});

test('a call that was given up while it waited does not begin', async () => {
  const { busy, leader, links } = await follower();
  const list = Promise.resolve(busy.loop.run(LIST, busy.list()));
  const giveUp = new AbortController();
  const calls = Array.from({ length: CALLS }, (_, at) => links.call(2n, utf8(`${at}`), giveUp.signal).catch(String));
  await new Promise((resolve) => setImmediate(resolve));
  giveUp.abort(new Error('nobody waits'));
  links.send(2n, utf8('heartbeat'));
  await leader.until(() => leader.messages.includes('heard'));
  await Promise.all(calls);
  const begun = busy.log.filter((what) => what === 'call').length;
  expect(begun).toBeLessThan(CALLS / 2);
  await busy.until(list);
  expect(busy.log.filter((what) => what === 'call').length).toBe(begun);
});
