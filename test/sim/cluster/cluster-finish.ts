import { epoch } from '@engram/core';
import { openReplica } from '@engram/backend';
import { LocalCopy, SharedLogStorage } from '@engram/sim';
import type { Storage } from '@engram/storage';
import { expectThat, Finding } from '../judge/finding.ts';
import { Face, storeSettings } from '../world/face.ts';
import { answerOf, until } from '../world/patience.ts';
import { StateCheck } from '../world/state-check.ts';
import { LifeImages } from './cluster-images.ts';
import { stopNode } from './cluster-faults.ts';
import type { ClusterLife } from './cluster-life.ts';
import type { ClusterNode } from './cluster-node.ts';
import type { ClusterWorld } from './cluster-world.ts';

/** Leases that last longer are not waited for: they outlive what comes after them. */
const EXPIRY_SECONDS_MAX = 100;
const WATCH_QUIET_MS = 5000;
/** Beside what the log may take to answer. */
const CALM_MS = 1000;

/** Nothing fails any more: everything must come to its end, and every node must hold what the log says. */
export async function finish(world: ClusterWorld): Promise<void> {
  world.tell(() => 'nothing fails any more');
  world.ending = true;
  for (const client of world.watchClients) client.heal();
  await healthy(world);
  await until(
    world,
    'requests are answered',
    () => world.calls.underWay.length === 0,
    () => world.calls.underWay.join(', '),
  );
  // An addition that was answered meanwhile has brought a member, which nobody has started yet.
  await healthy(world);
  world.logJudge.settleWrites();
  await leasesEnd(world);
  await until(world, 'all nodes have applied the log', () => world.members.every(isLevel(world)));
  await watchesAreComplete(world);
  sameMembers(world);
  for (const [node, life] of living(world)) {
    const check = new StateCheck(world, life.face!, node.name);
    await check.all();
    expectThat(life.face!.pins === 0, 'leak', () => `${node.name}: ${life.face!.pins} pins are held, and nobody reads`);
  }
  await stopAll(world);
  await compareWithRecovery(world, new SharedLogStorage(world.log, new LocalCopy()), 'the recovered store');
  if (world.images.image !== undefined)
    await compareWithRecovery(world, storageFromImage(world), 'the store of the image');
}

/** Everybody lives, hears the others, and knows one leader. */
async function healthy(world: ClusterWorld): Promise<void> {
  const heal = (): void => {
    world.network.healAll();
    world.startAdded();
    for (const node of world.nodes) {
      const life = node.alive;
      life?.log.heal();
      life?.raft.heal();
      life?.values.heal();
      if (life?.process.paused === true) life.process.resume();
      if (node.forgotten && isListed(world, node)) {
        world.tell(() => `${node.name} was added after all`);
        node.removed = false;
        node.forgotten = false;
      }
      if (life === undefined) world.start(node);
      if (isForgotten(world, node)) {
        world.tell(() => `${node.name} was removed before it had joined`);
        node.removed = true;
        node.forgotten = true;
        world.kill(node);
      }
    }
  };
  const isWell = (): boolean => {
    heal();
    const [leader, second] = world.leaders;
    if (second !== undefined || leader === undefined) return false;
    return listed(leader) === idsOf(world.members) && world.members.every((node) => knows(node, leader));
  };
  await until(world, 'one member leads, and all know it', isWell, () => world.leaders.map(({ id }) => id).join(' '));
}

/** It was removed before it had heard of anybody: it knows nobody whom it could ask, and an operator must end it. */
function isForgotten(world: ClusterWorld, node: ClusterNode): boolean {
  const { joins, life } = node;
  if (!joins || world.leaders.length === 0 || (life?.member?.member.cluster.members.length ?? 0) > 0) return false;
  // Whoever was elected just now may not have applied the addition yet: somebody has.
  return !isListed(world, node);
}

const isListed = (world: ClusterWorld, { id }: ClusterNode): boolean =>
  world.serving.some(({ member }) => member?.member.cluster.members.some((one) => one.id === id) === true);

const idsOf = (members: readonly { readonly id: bigint }[]): string =>
  members
    .map(({ id }) => String(id))
    .sort()
    .join();

const listed = ({ member }: ClusterLife): string => idsOf(member?.member.cluster.members ?? []);

const knows = ({ serving }: ClusterNode, leader: ClusterLife): boolean =>
  serving?.member?.member.cluster.leaderId === leader.id;

const isLevel =
  (world: ClusterWorld) =>
  ({ serving }: ClusterNode): boolean =>
    serving?.face?.applied === world.history.next;

function living(world: ClusterWorld): readonly (readonly [ClusterNode, ClusterLife])[] {
  return world.members.map((node) => {
    const life = node.serving;
    if (life === undefined) throw new Finding('hang', `${node.name} does not serve`);
    return [node, life];
  });
}

/** All know the same members, and those are the ones that live. */
function sameMembers(world: ClusterWorld): void {
  const expected = idsOf(world.members);
  for (const [node, life] of living(world)) {
    const known = listed(life);
    expectThat(known === expected, 'state', () => `${node.name} knows the members ${known}, and there are ${expected}`);
  }
}

/** Nobody renews any more: those that do not last long go, with their keys. */
async function leasesEnd(world: ClusterWorld): Promise<void> {
  const { history } = world;
  const left = (): readonly bigint[] =>
    history
      .leasesAt(history.next)
      .filter(({ ttlSeconds }) => ttlSeconds < EXPIRY_SECONDS_MAX)
      .map(({ id }) => id);
  // What was answered Timeout may still be on its way: nothing has come for so long.
  const { logTimeoutMs } = world.settings;
  let next = -1;
  let sinceMs = 0;
  const isCalm = (): boolean => {
    if (next !== history.next) sinceMs = world.nowMs;
    next = history.next;
    return world.nowMs - sinceMs > 2 * logTimeoutMs + CALM_MS;
  };
  await until(
    world,
    'expired leases end',
    () => isCalm() && left().length === 0,
    () => left().join(' '),
  );
  world.logJudge.settleWrites();
}

/** Every watch has come back, and has seen all that it is to see. */
async function watchesAreComplete(world: ClusterWorld): Promise<void> {
  const behind = (): boolean => world.watchClients.some(({ isBehind, watches }) => watches > 0 && isBehind);
  await until(world, 'clients of watches have come back', () => !behind());
  await world.delay(WATCH_QUIET_MS);
  for (const client of world.watchClients) client.checkComplete();
}

/** The newest image, and the log as far as it is left. */
function storageFromImage({ images, log, spareHost, random, settings }: ClusterWorld): Storage {
  const storage = new SharedLogStorage(log, new LocalCopy());
  const process = spareHost.start();
  const parts = { id: 99n, images, process, random: random.fork('spare'), delayMsMax: settings.logDelayMsMax };
  const shared = new LifeImages(parts);
  return {
    log: shared.log(storage.log),
    values: shared.values(storage.values),
    [Symbol.asyncDispose]: () => storage[Symbol.asyncDispose](),
  };
}

/** A node that has nothing by itself comes to the same state. */
async function compareWithRecovery(world: ClusterWorld, storage: Storage, name: string): Promise<void> {
  const process = world.spareHost.process ?? world.spareHost.start();
  const backend = await answerOf(
    world,
    'a fresh node reads the log',
    openReplica({
      ...storeSettings(world.settings),
      storage,
      clock: process.clock,
      random: process.random,
      logger: { debug() {}, info() {}, warn() {}, error() {} },
      memberId: 99n,
      onFatal: (error) => world.fail(new Finding('broken', `the fresh node ends: ${error.message}`, { cause: error })),
    }),
  );
  await answerOf(world, 'the fresh node leads', backend.lead(epoch(world.log.sealed.epoch + 1)));
  const check = new StateCheck(world, new Face(backend), name);
  await check.all();
  await answerOf(world, 'the fresh node stops', backend[Symbol.asyncDispose]());
  process.kill();
}

/** One after another: each that leads hands over, and the last one ends by itself. */
async function stopAll(world: ClusterWorld): Promise<void> {
  world.over = true;
  for (const [node, life] of living(world)) {
    stopNode(world, node, life);
    await until(world, `${node.name} stops`, () => !life.process.alive);
  }
}
