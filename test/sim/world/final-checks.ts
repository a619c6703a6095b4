import { isEngramError } from '@engram/core';
import { expectThat, Finding } from '../judge/finding.ts';
import { MemoryNodeDisk } from '../disk/node-disk.ts';
import { CopiedLog } from './copied-log.ts';
import type { Face } from './face.ts';
import { stopNode } from './fault-steps.ts';
import { Life } from './life.ts';
import { answerOf, QUIET_MS_MAX, until } from './patience.ts';
import { StateCheck } from './state-check.ts';
import type { World } from './world.ts';

const never = new AbortController().signal;
const CORRUPT = 2;
/** Leases with a longer TTL are not waited for, because they outlive the rest of the run. */
const EXPIRY_SECONDS_MAX = 100;
const EXPIRY_SLACK_MS = 5000;
const AGAIN_MS = 100;

/** Ends the run without further faults. All work must end, and the node's state must be that of the log. */
export async function finish(world: World): Promise<void> {
  world.tell(() => 'nothing fails any more');
  world.ending = true;
  for (const client of world.watchClients) client.heal();
  const face = await healthy(world);
  const { underWay } = world.calls;
  await until(
    world,
    'requests are answered',
    () => world.calls.underWay.length === 0,
    () => underWay.join(', '),
  );
  world.log.settleWrites();
  await leasesEnd(world, face);
  await until(world, 'all has taken effect', () => face.revision === world.history.revision);
  await watchesAreComplete(world);
  const living = new StateCheck(world, face, 'the living store');
  await living.all();
  await compareWithRecovery(world);
  await compactAll(world, face);
  await living.all();
  expectThat(face.pins === 0, 'leak', () => `${face.pins} pins are held, and nobody reads`);
  if (world.segments !== undefined) await losePower(world);
  const life = world.life!;
  stopNode(world, life);
  await until(world, 'the node stops', () => !life.process.alive);
  world.log.settleWrites();
}

/** Waits for a node that leads and has no faults. */
async function healthy(world: World): Promise<Face> {
  const heal = (): void => {
    const { life } = world;
    if (life === undefined || !life.process.alive) return;
    if (life.process.paused) life.process.resume();
    life.faults.heal();
    world.segments?.disarm();
  };
  heal();
  // A storage that has failed takes no more until it is opened again.
  if (world.life?.diskFails === true) world.kill(false);
  await until(world, 'the node leads', () => {
    if (world.life?.process.alive !== true) world.start();
    heal();
    const { face, stopping } = world.life!;
    return face?.leads === true && !stopping;
  });
  return world.life!.face!;
}

/** Waits until the leases with a short TTL have ended, with their keys. */
async function leasesEnd(world: World, face: Face): Promise<void> {
  const { history, judge } = world;
  const waitMs = judge.leases.lastDeadlineMs(EXPIRY_SECONDS_MAX) - world.nowMs;
  if (waitMs < 0) return;
  await world.delay((waitMs + EXPIRY_SLACK_MS) / world.plan.settings.clockRate);
  const left = (): number =>
    history.leasesAt(history.next).filter(({ ttlSeconds }) => ttlSeconds < EXPIRY_SECONDS_MAX).length;
  const haveEnded = (): boolean => left() === 0 && face.revision === history.revision;
  do {
    // No lease ends under this alarm, and all do after it. A write whose caller was answered Timeout may still raise it.
    if (left() > 0) await disarm(world, face);
    await until(world, 'expired leases end', () => haveEnded() || (left() > 0 && isCorrupt(world)));
  } while (!haveEnded());
  world.log.settleWrites();
}

/** Waits until every watch is resumed, and checks that it has all its events. */
async function watchesAreComplete(world: World): Promise<void> {
  const behind = (): boolean => world.watchClients.some(({ isBehind, watches }) => watches > 0 && isBehind);
  await until(world, 'clients of watches have come back', () => !behind());
  await world.delay(QUIET_MS_MAX / 4);
  for (const client of world.watchClients) client.checkComplete();
}

const isCorrupt = ({ history }: World): boolean =>
  history.alarmsAt(history.next).some(({ alarm }) => alarm === CORRUPT);

/** Takes the alarm CORRUPT away, if it is raised. */
async function disarm(world: World, face: Face): Promise<void> {
  const { judge } = world;
  if (isCorrupt(world)) await answerOf(world, 'the alarm goes', deactivated(face));
  for (const write of judge.writes.unexplained(1)) if (write.mark?.kind === 'alarm') judge.writes.explain(write);
}

/** Asks again after Timeout: the append that began last, while there were faults, may take longer than a request. */
async function deactivated(face: Face): Promise<void> {
  for (;;) {
    try {
      await face.deactivateAlarm(CORRUPT, never);
      return;
    } catch (error) {
      if (!isEngramError(error, 'Timeout')) throw error;
    }
  }
}

/** Asks again after TooManyRequests: the ends of leases that the alarm has held back may fill what may wait for the log. */
async function compactedAt(world: World, face: Face, revision: number): Promise<void> {
  for (;;) {
    try {
      await face.compact(revision, true, never);
      return;
    } catch (error) {
      if (!isEngramError(error, 'TooManyRequests')) throw error;
      await world.delay(AGAIN_MS);
    }
  }
}

/** Checks that compacted versions leave index and storage in bounded time. */
async function compactAll(world: World, face: Face): Promise<void> {
  const { history } = world;
  const workedOff = (): boolean => history.compactRevision < 0 || world.compacted === history.compactRevision;
  await until(world, 'the compaction is worked off', workedOff);
  await disarm(world, face);
  if (history.compactRevision < history.revision)
    await answerOf(world, 'the last compaction', compactedAt(world, face, history.revision));
  for (const write of world.judge.writes.unexplained(1))
    if (write.mark?.kind === 'compact') world.judge.writes.explain(write);
  // Another checkpoint lets storage drop the records that the compaction has left.
  await answerOf(world, 'the space is given back', face.defragment());
  await world.delay(QUIET_MS_MAX / 4);
  new StateCheck(world, face, 'the living store').disk(world.disk);
  world.segments?.checkSize();
}

/** Checks that a loss of power takes nothing from a node at rest. */
async function losePower(world: World): Promise<void> {
  world.kill(false, 'power');
  const face = await healthy(world);
  await until(world, 'all has taken effect', () => face.revision === world.history.revision);
  await new StateCheck(world, face, 'the store after a loss of power').all();
}

/**
 * Checks that a node that starts from the durable records reaches the same state, and stays correct in a further
 * compaction. It knows of garbage only from the checkpoint and the replay.
 */
async function compareWithRecovery(world: World): Promise<void> {
  const random = world.random.fork('recovery');
  const log = new CopiedLog(world);
  const { disk, history } = log;
  const second = new Life({
    host: world.spareHost,
    disk: new MemoryNodeDisk(disk),
    random,
    settings: world.plan.settings,
    logger: world.logger,
    onMounted: () => undefined,
    onAppending: (batch) => log.appending(batch),
    onDurable: (batch) => world.guarded(() => log.durable(batch)),
    onDeposed: (end) => world.fail(new Finding('broken', `the second node is deposed: ${end.kind}`)),
    onFatal: (error) => world.fail(new Finding('broken', `the second node ends: ${error.message}`, { cause: error })),
    onCompacted: () => undefined,
  });
  const face = await answerOf(world, 'a second node starts', second.open(world.nextEpoch()));
  const check = new StateCheck(log, face, 'the recovered store');
  await check.all();
  if (!history.alarmsAt(history.next).some(({ alarm }) => alarm === CORRUPT)) {
    let { compactRevision: compacted } = history;
    for (let left = 2; left >= 0 && compacted < history.revision; left -= 1) {
      const least = Math.max(1, compacted + 1);
      compacted = left === 0 ? history.revision : random.between(least, history.revision);
      await answerOf(world, `a second node is compacted at ${compacted}`, face.compact(compacted, left === 0, never));
      await check.compacted();
    }
    await answerOf(world, 'a second node gives space back', face.defragment());
    await world.delay(QUIET_MS_MAX / 4);
    check.disk(disk);
  }
  await answerOf(world, 'the second node stops', face.dispose());
  second.process.kill();
}
