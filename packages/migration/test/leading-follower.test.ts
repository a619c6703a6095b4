import { isEngramError } from '@engram/core';
import { SimClock } from '@engram/sim';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FakeEtcd } from './fake-etcd.ts';
import { passTime, settleWork } from './passing-time.ts';
import { type BedMember, TwoMembers } from './two-members.ts';

let clock: SimClock;
let etcd: FakeEtcd;
let bed: TwoMembers;
let a: BedMember;
let b: BedMember;

beforeEach(async () => {
  clock = new SimClock();
  etcd = new FakeEtcd();
  bed = await settled(TwoMembers.start(clock, etcd));
  [a, b] = bed.members as [BedMember, BedMember];
});
afterEach(async () => {
  bed.stop();
  await pass(2000);
  await bed.close();
});

const pass = (ms: number): Promise<void> => passTime(clock, ms);
const settled = <Value>(work: Promise<Value>): Promise<Value> => settleWork(clock, work);

async function caughtUp(member: BedMember): Promise<void> {
  for (let turn = 0; turn < 300 && member.backend.revision < etcd.newest; turn += 1) await pass(100);
  expect(member.backend.revision).toBe(etcd.newest);
}

const cutOver = (member: BedMember): Promise<number | string> =>
  settled(member.follower.cutOver(new AbortController().signal)).catch((error: unknown) => String(error));

const refused = (work: Promise<unknown>): Promise<boolean> =>
  settled(work).then(
    () => false,
    (error: unknown) => isEngramError(error, 'Following'),
  );

/** The keys of the etcd's revisions 2 and on, each put once. */
const wanted = (from: number, to: number): readonly string[] =>
  Array.from({ length: to - from + 1 }, (_, at) => from + at).map(
    (revision) => `${nameOf(revision)}=${nameOf(revision)}-${revision} 1 ${revision} ${revision}`,
  );
const nameOf = (revision: number): string => `key-${String(revision).padStart(3, '0')}`;
const putOne = (): number => etcd.put(nameOf(etcd.newest + 1));

test('the member that leads follows, and the next leader goes on where it has ended', async () => {
  putOne();
  await pass(1000);
  expect([a.follower.lag, b.follower.lag]).toEqual([undefined, undefined]);
  for (const [to, other] of [
    [a, b],
    [b, a],
    [a, b],
    [b, a],
  ] as const) {
    await settled(bed.lead(to));
    putOne();
    await caughtUp(to);
    for (let more = 0; more < 5; more += 1) putOne();
    await caughtUp(to);
    await pass(1000);
    expect(other.follower.lag).toBeUndefined();
    expect(to.follower.lag).toMatchObject({ at: etcd.newest, source: etcd.newest });
    expect(await bed.keys(to)).toEqual(wanted(2, etcd.newest));
  }
  expect([a.outcome, b.outcome]).toEqual([undefined, undefined]);
});

test('whatever changes the leader, no revision is missing and none comes twice', async () => {
  for (let round = 0; round < 30; round += 1) {
    const [to, other] = round % 2 === 0 ? [a, b] : [b, a];
    const leading = settled(bed.lead(to, round % 3 !== 0));
    for (let more = 0; more < round % 7; more += 1) putOne();
    await leading;
    await pass(50 * (round % 11));
    if (round % 3 === 0) await settled(other.backend.stepDown());
    await pass(50 * (round % 5));
  }
  putOne();
  await caughtUp(b);
  expect(await bed.keys(b)).toEqual(wanted(2, etcd.newest));
  expect([a.outcome, b.outcome]).toEqual([undefined, undefined]);
});

test('a client is refused at every member, whoever leads, also before the leader follows', async () => {
  for (const to of [a, b]) {
    await settled(bed.lead(to));
    for (const at of [a, b]) expect(await refused(bed.put(at, 'mine'))).toBe(true);
    await pass(2000);
    for (const at of [a, b]) expect(await refused(bed.put(at, 'mine'))).toBe(true);
  }
  expect(b.backend.revision).toBe(1);
});

test('the cut-over at the leader lets clients in at every member, whose next leader follows no more', async () => {
  await settled(bed.lead(a));
  putOne();
  await caughtUp(a);
  expect(await cutOver(b)).toContain('this member does not follow the etcd');
  expect(await cutOver(a)).toBe(2);
  expect(bed.mark.there).toBe(false);
  expect(await settled(bed.put(a, 'first'))).toBe(3);
  expect(await settled(bed.put(b, 'second'))).toBe(4);
  // Who still writes to the etcd is not followed, nor does it end anybody.
  for (let more = 0; more < 5; more += 1) putOne();
  await settled(bed.lead(b));
  await pass(3000);
  expect(await settled(bed.put(b, 'third'))).toBe(5);
  expect(await bed.keys(b)).toEqual(['first=x 1 3 3', ...wanted(2, 2), 'second=x 1 4 4', 'third=x 1 5 5']);
  expect([a.outcome, b.outcome]).toEqual([{ error: undefined }, { error: undefined }]);
});

test('a leader that has not heard of the cut-over writes nothing behind what clients have written', async () => {
  await settled(bed.lead(a));
  putOne();
  await caughtUp(a);
  // The other one does not look meanwhile.
  const open = Promise.withResolvers<void>();
  bed.mark.gate = open.promise;
  await pass(1000);
  bed.mark.gate = undefined;
  expect(await cutOver(a)).toBe(2);
  expect(await settled(bed.put(a, 'mine'))).toBe(3);
  putOne();
  putOne();
  // Its look began before the cut-over, and before it led.
  await settled(bed.lead(b));
  const later = Promise.withResolvers<void>();
  bed.mark.gate = later.promise;
  open.resolve();
  await pass(2000);
  expect(await refused(bed.put(b, 'early'))).toBe(true);
  expect([b.outcome, b.backend.revision]).toEqual([undefined, 3]);
  bed.mark.gate = undefined;
  later.resolve();
  await pass(3000);
  expect(await settled(bed.put(b, 'then'))).toBe(4);
  expect(await bed.keys(b)).toEqual([...wanted(2, 2), 'mine=x 1 3 3', 'then=x 1 4 4']);
});

test('a follower whose member leads no more writes nothing through the next leader', async () => {
  await settled(bed.lead(a));
  putOne();
  await caughtUp(a);
  // The next leader cuts over before the first one finds that it leads no more.
  await settled(bed.lead(b));
  bed.mark.there = false;
  b.following.end();
  putOne();
  await pass(2000);
  expect(b.backend.revision).toBe(2);
  expect(await settled(bed.put(a, 'mine'))).toBe(3);
});

test('the cut-over is refused while a revision is missing, at the source of one leader and the next', async () => {
  for (const to of [a, b]) {
    await settled(bed.lead(to));
    putOne();
    await caughtUp(to);
    etcd.distort = () => undefined;
    putOne();
    expect(await cutOver(to)).toContain('1 revisions are missing');
    expect(bed.mark.there).toBe(true);
    expect(await refused(bed.put(to, 'mine'))).toBe(true);
    etcd.distort = (response) => response;
  }
});

test('a leader that is replaced while it cuts over leaves the mark', async () => {
  await settled(bed.lead(a));
  putOne();
  await caughtUp(a);
  const auth = etcd.auth.bind(etcd);
  const asked = Promise.withResolvers<void>();
  const goesOn = Promise.withResolvers<void>();
  etcd.auth = async () => {
    asked.resolve();
    await goesOn.promise;
    return await auth();
  };
  const over = a.follower.cutOver(new AbortController().signal).catch((error: unknown) => String(error));
  await settled(asked.promise);
  await settled(bed.lead(b));
  goesOn.resolve();
  expect(await settled(over)).toContain('this member does not lead any more');
  expect(bed.mark.there).toBe(true);
  putOne();
  await caughtUp(b);
  expect(await cutOver(b)).toBe(3);
});

test('a cut-over whose answer is lost is seen by every member, the leader too', async () => {
  await settled(bed.lead(a));
  putOne();
  await caughtUp(a);
  bed.mark.unanswered = true;
  expect(await cutOver(a)).toContain('the answer is lost');
  expect(await refused(bed.put(a, 'mine'))).toBe(true);
  await pass(2000);
  expect([a.outcome, b.outcome]).toEqual([{ error: undefined }, { error: undefined }]);
  expect(await settled(bed.put(b, 'mine'))).toBe(3);
});

test('a leader that another one replaces within its cut-over lets nobody in that the next one does not know', async () => {
  await settled(bed.lead(a));
  putOne();
  await caughtUp(a);
  let next: Promise<void> | undefined;
  bed.mark.removing = () => {
    next = bed.lead(b, false);
  };
  expect(await cutOver(a)).toBe(2);
  await settled(next!);
  putOne();
  await pass(3000);
  expect(b.following.active).toBe(false);
  const at = b.backend.revision;
  expect(await settled(bed.put(b, 'mine'))).toBe(at + 1);
  expect((await bed.keys(b)).filter((key) => !key.startsWith('mine'))).toEqual(wanted(2, at));
});

test('a store that does not answer in time is followed on when it does, behind what has become durable late', async () => {
  await settled(bed.lead(a));
  putOne();
  await caughtUp(a);
  for (let round = 0; round < 3; round += 1) {
    const open = Promise.withResolvers<void>();
    bed.appends.gate = open.promise;
    for (let more = 0; more < 3; more += 1) putOne();
    await pass(9000 + 1000 * round);
    bed.appends.gate = undefined;
    open.resolve();
    putOne();
    await caughtUp(a);
    expect(await bed.keys(a)).toEqual(wanted(2, etcd.newest));
  }
  expect([a.outcome, b.outcome]).toEqual([undefined, undefined]);
});

test('while nobody knows whether the store still follows, nobody writes to it', async () => {
  bed.mark.broken = true;
  await settled(bed.lead(a));
  putOne();
  await pass(3000);
  expect(a.backend.revision).toBe(1);
  expect(await refused(bed.put(a, 'mine'))).toBe(true);
  bed.mark.broken = false;
  await caughtUp(a);
  // One that leads and follows goes on: nobody but itself ends that.
  bed.mark.broken = true;
  putOne();
  await caughtUp(a);
  expect([a.outcome, b.outcome]).toEqual([undefined, undefined]);
});

test('a difference ends the leader, by name', async () => {
  await settled(bed.lead(a));
  putOne();
  await caughtUp(a);
  etcd.distort = (response) => ({
    ...response,
    events: response.events.map((event) => ({ ...event, kv: { ...event.kv!, version: 9 } })),
  });
  putOne();
  await pass(2000);
  expect(a.outcome?.error).toMatchObject({ fault: 'differs' });
  expect(a.backend.revision).toBe(2);
});
