import { epoch } from '@engram/core';
import { openReplica } from '@engram/backend';
import { quiet } from '@engram/sim';
import type { Storage } from '@engram/storage';
import { expectThat, Finding } from '../judge/finding.ts';
import { Face, storeSettings } from '../world/face.ts';
import { answerOf, until } from '../world/patience.ts';
import { RequestStep } from '../world/request-steps.ts';
import { StateCheck } from '../world/state-check.ts';
import { stopNode } from './member-faults.ts';
import type { MemberLife } from './member-life.ts';
import type { MemberNode } from './member-node.ts';
import type { MembersWorld } from './members-world.ts';

/** Leases with a longer TTL are not waited for, because they outlive the rest of the run. */
const EXPIRY_SECONDS_MAX = 100;
const WATCH_QUIET_MS = 5000;
/** Time without new records, in addition to the log's timeout. */
const CALM_MS = 1000;

const UNDISTURBED_REQUESTS = 6;
/** Above the ids of all steps, because values contain the id of their step. */
const UNDISTURBED_FROM = 100_000;
const UNDISTURBED_KINDS = ['put', 'put', 'txn', 'look', 'range-all', 'keep-alive', 'lease-ttl', 'delete'] as const;
/** A watcher gets a change after this time, with the delays of the run. */
const WATCH_MS_MAX = 500;

/** Ends the run without further faults. All work must end, and every node must have the state of the log. */
export async function finishMembers(world: MembersWorld): Promise<void> {
  world.tell(() => 'nothing fails any more');
  world.ending = true;
  for (const client of world.watchClients) client.heal();
  await majorityGoesOn(world);
  await healthy(world);
  await until(
    world,
    'processes whose member another one is end',
    () => world.isSettled,
    () => world.nodes.flatMap(({ superseded, alive, name }) => (superseded && alive ? [name] : [])).join(' '),
  );
  await until(
    world,
    'requests are answered',
    () => world.calls.underWay.length === 0 && (world.liar?.underWay.size ?? 0) === 0,
    () => [...world.calls.underWay, ...(world.liar?.underWay ?? [])].join(', '),
  );
  // An addition that was answered meanwhile may have added a member that is not started yet.
  await healthy(world);
  await servesAll(world);
  world.logJudge.settleWrites();
  await leasesEnd(world);
  // The addition of a member that died before it answered may be committed by the next leader.
  await healthy(world);
  await until(world, 'all nodes have applied the log', () => world.members.every(isLevel(world)));
  await watchesAreComplete(world);
  sameMembers(world);
  for (const [node, life] of living(world)) {
    const check = new StateCheck(world, life.face!, node.name);
    await check.all();
    expectThat(life.face!.pins === 0, 'leak', () => `${node.name}: ${life.face!.pins} pins are held, and nobody reads`);
  }
  await stopAll(world);
}

/**
 * Where nothing is disturbed, every member serves every request in its time, and watchers get each change within a bound. A
 * refusal needs a cause in the log, and an answer that is late has none.
 */
async function servesAll(world: MembersWorld): Promise<void> {
  const behind = (): boolean => world.watchClients.some(({ isBehind, watches }) => watches > 0 && isBehind);
  await until(world, 'clients of watches have come back', () => !behind());
  await world.delay(WATCH_QUIET_MS);
  world.tell(() => 'every request must be served');
  world.calm();
  const random = world.random.fork('undisturbed requests');
  for (let at = 0; at < UNDISTURBED_REQUESTS; at += 1) {
    for (const life of world.serving) {
      world.tell(() => `at m${life.id}:`);
      const step = { id: UNDISTURBED_FROM + at + Number(life.id % 7n) / 10, seed: random.uint32() };
      RequestStep.run(world, life, step, random.pick(UNDISTURBED_KINDS));
    }
    await world.delay(random.pick([0, 1, 50]) * random.fraction());
  }
  await until(
    world,
    'undisturbed requests are answered',
    () => world.calls.underWay.length === 0,
    () => world.calls.underWay.join(', '),
  );
  const { storageDelayMsMax, networkDelayMsMax, lateMsMax, turnMsMax } = world.settings;
  await world.delay(WATCH_MS_MAX + 20 * (storageDelayMsMax + networkDelayMsMax + lateMsMax + turnMsMax));
  for (const client of world.watchClients) client.checkComplete();
}

/**
 * Members that are lost must not stop a majority: in half of the runs some stay dead, until the others have a leader that
 * they all know, or know of a change of the membership after which they are no majority.
 */
async function majorityGoesOn(world: MembersWorld): Promise<void> {
  const random = world.random.fork('lost members');
  // A deposed leader may not know yet that another one leads.
  const newest = world.leaders.reduce<MemberLife | undefined>(
    (one, other) => (termOf(one) > termOf(other) ? one : other),
    undefined,
  );
  const voters = newest === undefined ? [] : votersOf(newest);
  if (!world.isSettled || voters.length < 3 || !random.chance(0.5)) return;
  const most = Math.ceil(voters.length / 2) - 1;
  // Those that are dead already have died at a time that matters.
  const lost = new Set(voters.map((id) => world.nodeOf(id)).filter(({ alive }) => alive === undefined));
  if (lost.size > most) return;
  if (lost.size === 0)
    for (let left = random.between(1, most); left > 0; left -= 1) lost.add(world.nodeOf(random.pick(voters)));
  world.disturb();
  for (const node of lost) {
    world.kill(node);
    node.lost = true;
  }
  const others = (): readonly MemberNode[] => world.members.filter((node) => !lost.has(node));
  const areMajority = (): boolean =>
    others().every(({ serving }) => {
      const counted = serving === undefined ? [] : votersOf(serving);
      return counted.length === 0 || 2 * counted.filter((id) => !lost.has(world.nodeOf(id))).length > counted.length;
    });
  const isWell = (): boolean => {
    heal(world, others());
    const [leader, second] = world.leaders;
    if (leader === undefined || second !== undefined || !votersOf(leader).includes(leader.id)) return false;
    const known = leader.member?.member.cluster.members ?? [];
    return others().every((node) => knows(node, leader) || known.every(({ id }) => id !== node.id));
  };
  await until(world, 'the others have a leader that all know', () => isWell() || !areMajority());
  for (const node of lost) node.lost = false;
}

/** Ends all faults, and starts these nodes. */
function heal(world: MembersWorld, nodes: readonly MemberNode[]): void {
  world.network.healAll();
  world.healStorage();
  world.startAdded();
  for (const node of nodes) {
    const life = node.alive;
    life?.heal();
    if (life?.process.paused === true) life.process.resume();
    if (node.takenForRemoved && isListed(world, node)) {
      world.tell(() => `${node.name} was added after all`);
      node.removed = false;
      node.takenForRemoved = false;
    }
    if (life === undefined) world.start(node);
    if (cannotLearnOfRemoval(world, node)) {
      world.tell(() => `${node.name} was removed before it had joined`);
      node.removed = true;
      node.takenForRemoved = true;
      world.kill(node);
    }
  }
}

/** Waits until all members live, hear each other, and know one leader. */
async function healthy(world: MembersWorld): Promise<void> {
  const isWell = (): boolean => {
    heal(world, world.nodes);
    const [leader, second] = world.leaders;
    if (second !== undefined || leader === undefined) return false;
    return listed(leader) === idsOf(world.members) && world.members.every((node) => knows(node, leader));
  };
  await until(world, 'one member leads, and all know it', isWell, () => world.leaders.map(({ id }) => id).join(' '));
}

/**
 * Whether the member was removed before it learned of any other member. It cannot learn of its removal, so an operator
 * must end it.
 */
function cannotLearnOfRemoval(world: MembersWorld, node: MemberNode): boolean {
  const { joins, life } = node;
  if (!joins || world.leaders.length === 0 || (life?.member?.member.cluster.members.length ?? 0) > 0) return false;
  // A new leader may not have applied the addition yet, but some member has.
  return !isListed(world, node);
}

const isListed = (world: MembersWorld, { id }: MemberNode): boolean =>
  world.serving.some(({ member }) => member?.member.cluster.members.some((one) => one.id === id) === true);

const idsOf = (members: readonly { readonly id: bigint }[]): string =>
  members
    .map(({ id }) => String(id))
    .sort()
    .join();

const termOf = (life: MemberLife | undefined): number => life?.member?.member.cluster.term ?? 0;

const votersOf = ({ member }: MemberLife): readonly bigint[] =>
  (member?.member.cluster.members ?? []).flatMap(({ id, isLearner }) => (isLearner ? [] : [id]));

const listed = ({ member }: MemberLife): string => idsOf(member?.member.cluster.members ?? []);

const knows = ({ serving }: MemberNode, leader: MemberLife): boolean =>
  serving?.member?.member.cluster.leaderId === leader.id;

const isLevel =
  (world: MembersWorld) =>
  ({ serving }: MemberNode): boolean =>
    serving?.face?.applied === world.history.next;

function living(world: MembersWorld): readonly (readonly [MemberNode, MemberLife])[] {
  return world.members.map((node) => {
    const life = node.serving;
    if (life === undefined) throw new Finding('hang', `${node.name} does not serve`);
    return [node, life];
  });
}

/** Checks that all members know the same members, and that these are the living ones. */
function sameMembers(world: MembersWorld): void {
  const expected = idsOf(world.members);
  for (const [node, life] of living(world)) {
    const known = listed(life);
    expectThat(known === expected, 'state', () => `${node.name} knows the members ${known}, and there are ${expected}`);
  }
}

/** Waits until the leases with a short TTL end with their keys. No client renews them. */
async function leasesEnd(world: MembersWorld): Promise<void> {
  const { history } = world;
  const left = (): readonly bigint[] =>
    history
      .leasesAt(history.next)
      .filter(({ ttlSeconds }) => ttlSeconds < EXPIRY_SECONDS_MAX)
      .map(({ id }) => id);
  // Writes that were answered Timeout may still be under way. The log is calm after this time without a record.
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

/** Waits until every watch is resumed, and checks that it has all its events. */
async function watchesAreComplete(world: MembersWorld): Promise<void> {
  const behind = (): boolean => world.watchClients.some(({ isBehind, watches }) => watches > 0 && isBehind);
  await until(world, 'clients of watches have come back', () => !behind());
  await world.delay(WATCH_QUIET_MS);
  for (const client of world.watchClients) client.checkComplete();
}

/** Checks that a node without a local copy reaches the same state. */
export async function compareWithRecovery(
  world: MembersWorld,
  storage: Storage,
  sealed: number,
  name: string,
): Promise<void> {
  const process = world.spareHost.process ?? world.spareHost.start();
  const backend = await answerOf(
    world,
    'a fresh node reads the log',
    openReplica({
      ...storeSettings(world.settings, process),
      storage,
      clock: process.clock,
      random: process.random,
      logger: quiet,
      memberId: 99n,
      onFatal: (error) => world.fail(new Finding('broken', `the fresh node ends: ${error.message}`, { cause: error })),
    }),
  );
  await answerOf(world, 'the fresh node leads', backend.lead(epoch(sealed + 1)));
  const check = new StateCheck(world, new Face({ store: backend, stats: backend.stats }), name);
  await check.all();
  await answerOf(world, 'the fresh node stops', backend[Symbol.asyncDispose]());
  process.kill();
}

/** Stops the members one after another. Each leader hands over; the last one stops alone. */
async function stopAll(world: MembersWorld): Promise<void> {
  world.over = true;
  for (const [node, life] of living(world)) {
    stopNode(world, node, life);
    await until(world, `${node.name} stops`, () => !life.process.alive);
  }
}
