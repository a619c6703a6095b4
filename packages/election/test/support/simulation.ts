import { isEngramError, type Logger } from '@engram/core';
import { defaultLimits } from '@engram/raft-ts';
import { Prng, Scheduler, SimHost, SimNetwork, type SimProcess } from '@engram/sim';
import { expect } from 'vitest';
import {
  type ClusterState,
  ElectionDriver,
  type Member,
  type MemberId,
  MemoryRaftDisk,
  MemoryRaftStorage,
  type RaftStorage,
} from '../../index.ts';
import { EXPECTED_FAULTS, id, member } from './members.ts';
import { SharedLog, SimStore } from './sim-store.ts';

const TICK_MS = 100;
const ELECTION_TICKS = 10;
const CLUSTER = 7n;
/** Drops log lines: the simulated faults are logged too. */
const nobody = (): void => {};
const logger: Logger = { debug: nobody, info: nobody, warn: nobody, error: nobody };

interface Life {
  readonly process: SimProcess;
  readonly driver: ElectionDriver;
  readonly store: SimStore;
}

interface Place {
  readonly id: MemberId;
  readonly host: SimHost;
  readonly disk: MemoryRaftDisk;
  /** First members have a state before they start. Other members join. */
  readonly isFirst: boolean;
  life: Life | undefined;
  starting: boolean;
  removed: boolean;
}

export interface SimulationOptions {
  readonly seed: number;
  readonly members: number;
  readonly reconfigures: boolean;
}

/**
 * Members of one cluster under one seed: real drivers, each on its own machine, with stores that take over and write to one
 * log. Processes die and stop. Links lose and delay messages, and are cut in one direction. Saves are slow, fail, or are
 * durable although they failed. Storage is unhealthy, and live connections are reported as gone.
 */
export class Simulation {
  readonly prng: Prng;
  readonly scheduler: Scheduler;
  readonly #network: SimNetwork;
  readonly #options: SimulationOptions;
  readonly #log = new SharedLog();
  readonly #places = new Map<MemberId, Place>();
  readonly #firstMembers: readonly Member[];
  /** For each epoch that members know of, its holder. */
  readonly #holders = new Map<number, MemberId>();
  readonly #ledIn = new Set<number>();
  failure: unknown;
  readonly #counts = { leads: 0, reads: 0, refusals: 0, kills: 0, pauses: 0, changes: 0, failures: 0 };

  constructor(options: SimulationOptions) {
    this.#options = options;
    this.prng = new Prng(options.seed);
    this.scheduler = new Scheduler({ random: this.prng.fork('order') });
    this.#network = new SimNetwork(this.prng.fork('network'));
    this.#firstMembers = Array.from({ length: options.members }, (_, at) => member(at + 1));
    for (const one of this.#firstMembers) this.#addPlace(one.id, true);
  }

  /** Runs `ms` of virtual time with faults. */
  async run(ms: number): Promise<void> {
    for (const place of this.#places.values()) this.#start(place);
    for (let passed = 0; passed < ms; passed += 20) {
      this.#disturb();
      await this.#pass(20);
    }
  }

  /** Ends all faults. Then there must be one leader that confirms reads, and all members share its state. */
  async heal(): Promise<void> {
    this.#network.healAll();
    this.#network.faults = { delayMsMin: 0.1, delayMsMax: 2, lost: 0, twice: 0 };
    for (const place of this.#places.values()) {
      place.life?.process.resume();
      if (place.life !== undefined) place.life.store.isStuck = false;
      this.#start(place);
    }
    for (let waitedMs = 0; waitedMs < 60_000; waitedMs += 500) {
      await this.#pass(500);
      for (const place of this.#places.values()) this.#start(place);
      for (const one of this.#lives())
        for (const other of this.#lives()) if (one !== other) one.driver.peerConnected(other.driver.view.self);
      for (const one of this.#lives()) one.driver.setStorageHealth(true);
      if (await this.#isWhole()) return;
    }
    const lines = this.#lives().map(({ driver, store }) => {
      const { self, term, leader, leadingIn, cluster, appliedIndex } = driver.view;
      return `${self}: term ${term} leader ${leader} leading ${leadingIn} store ${store.epoch} applied ${appliedIndex} members ${cluster.members.map((one) => `${one.id}${one.isLearner ? 'L' : ''}`)}`;
    });
    throw new Error(`the cluster does not become whole\n${lines.join('\n')}`);
  }

  async stop(): Promise<void> {
    for (const place of this.#places.values()) place.life?.process.kill();
  }

  get counts(): Readonly<Record<string, number>> {
    return { ...this.#counts, writes: this.#log.writes };
  }

  async #pass(ms: number): Promise<void> {
    await this.scheduler.pass(ms);
    if (this.failure !== undefined) throw this.failure;
  }

  #lives(): readonly Life[] {
    return [...this.#places.values()].flatMap(({ life }) => (life?.process.alive === true ? [life] : []));
  }

  async #isWhole(): Promise<boolean> {
    const leaders = this.#lives().filter(({ driver }) => driver.view.leadingIn !== undefined);
    const leader = leaders[0];
    if (leader === undefined || leaders.length > 1) return false;
    const { self, cluster } = leader.driver.view;
    for (const { id: other } of cluster.members) {
      const life = this.#places.get(other)?.life;
      if (life === undefined || life.driver.view.leader !== self) return false;
      if (life.driver.view.appliedIndex !== leader.driver.view.appliedIndex) return false;
      expect(life.driver.view.cluster).toEqual(cluster);
    }
    const before = this.#log.writes;
    leader.store.write();
    const isConfirmed = this.#read(leader);
    await this.#pass(200);
    return this.#log.writes > before && (await isConfirmed);
  }

  #disturb(): void {
    const { prng } = this;
    const place = prng.pick([...this.#places.values()]);
    const life = place.life;
    for (const one of this.#lives()) if (prng.chance(0.3)) one.store.write();
    for (const one of this.#lives()) if (prng.chance(0.2)) void this.#read(one);
    const dice = prng.below(1000);
    if (dice < 10) this.#kill(place);
    else if (dice < 40) this.#start(place);
    else if (dice < 45) this.#partition();
    else if (dice < 50) this.#network.healAll();
    else if (dice < 60) this.#changeLinks();
    else if (life === undefined) return;
    else if (dice < 64) this.#pause(life);
    else if (dice < 80) life.process.resume();
    else if (dice < 90) life.driver.setStorageHealth(prng.chance(0.5));
    else if (dice < 100) life.store.isStuck = prng.chance(0.3);
    else if (dice < 105) life.driver.peerGone(this.#someone());
    else if (dice < 115) life.driver.peerDisconnected(this.#someone());
    else if (dice < 170) life.driver.peerConnected(this.#someone());
    else if (dice < 176) this.#ignore(life.driver.transferLeader(this.#someone(), this.#deadline(place, 1000)));
    else if (dice < 180) this.#ignore(life.driver.handOver(this.#deadline(place, 1000)));
    else if (dice < 190)
      this.#ignore(life.driver.set('number', Uint8Array.of(prng.below(256)), this.#deadline(place, 2000)));
    else if (dice < 230 && this.#options.reconfigures) this.#reconfigure(place, life);
  }

  #kill(place: Place): void {
    if (place.life === undefined) return;
    this.#counts.kills += 1;
    place.life.process.kill();
    place.life = undefined;
  }

  #pause(life: Life): void {
    this.#counts.pauses += 1;
    life.process.pause();
  }

  #partition(): void {
    const hosts = [...this.#places.values()].map(({ host }) => host);
    const inside = new Set(hosts.filter(() => this.prng.chance(0.4)));
    const bothWays = this.prng.chance(0.7);
    for (const one of hosts) {
      for (const other of hosts) {
        if (inside.has(one) && !inside.has(other)) this.#network.cut(one, other);
        if (bothWays && !inside.has(one) && inside.has(other)) this.#network.cut(one, other);
      }
    }
  }

  #changeLinks(): void {
    const { prng } = this;
    const isBad = prng.chance(0.4);
    this.#network.faults = {
      delayMsMin: 0.1,
      delayMsMax: isBad ? prng.pick([5, 50, 500]) : 2,
      lost: isBad ? prng.fraction() * 0.3 : 0,
      twice: isBad ? prng.fraction() * 0.3 : 0,
    };
  }

  #reconfigure(place: Place, { driver }: Life): void {
    const { prng } = this;
    const target = id(1 + prng.below(this.#options.members + 2));
    const kind = prng.pick(['add', 'add', 'remove', 'promote', 'promote', 'update'] as const);
    const signal = this.#deadline(place, 2000);
    const peerUrls = [`http://127.0.0.1:${target}`];
    const request =
      kind === 'add'
        ? { kind, id: target, peerUrls, isLearner: prng.chance(0.7) }
        : kind === 'update'
          ? { kind, id: target, peerUrls }
          : { kind, id: target };
    // A removed member is not added again: a member's id is not reused.
    if (kind === 'add' && this.#places.get(target)?.removed === true) return;
    if (kind === 'add' && !this.#places.has(target)) this.#start(this.#addPlace(target, false));
    this.#counts.changes += 1;
    this.#ignore(driver.changeMembers(request, signal));
  }

  /** A read at this member must show every write that was acknowledged before it began. True if it was confirmed. */
  async #read(life: Life): Promise<boolean> {
    const acknowledged = this.#log.writes;
    const began = life.store.epoch;
    try {
      const epoch = await life.driver.confirmLeadership(this.#deadlineOf(life, 3000));
      if (!life.process.alive) return false;
      this.#counts.reads += 1;
      if (life.store.seen < acknowledged) {
        throw new Error(`a read in epoch ${epoch} (of ${began}) saw ${life.store.seen} of ${acknowledged} writes`);
      }
      return true;
    } catch (error) {
      if (isEngramError(error) || error === GAVE_UP) this.#counts.refusals += 1;
      else this.failure ??= error;
      return false;
    }
  }

  #deadline(place: Place, ms: number): AbortSignal {
    const abort = new AbortController();
    place.life?.process.after(ms, () => abort.abort(GAVE_UP));
    return abort.signal;
  }

  #deadlineOf({ process }: Life, ms: number): AbortSignal {
    const abort = new AbortController();
    process.after(ms, () => abort.abort(GAVE_UP));
    return abort.signal;
  }

  #ignore(promise: Promise<unknown>): void {
    promise.catch((error: unknown) => {
      if (!isEngramError(error) && error !== GAVE_UP) this.failure ??= error;
    });
  }

  #someone(): MemberId {
    return this.prng.pick([...this.#places.keys()]);
  }

  #addPlace(self: MemberId, isFirst: boolean): Place {
    const random = this.prng.fork(`host ${self}`);
    const host = new SimHost(this.scheduler, {
      name: `m${self}`,
      random,
      lateMsMax: 5,
      rate: 0.9 + random.fraction() / 5,
    });
    const place: Place = {
      id: self,
      host,
      disk: new MemoryRaftDisk(),
      isFirst,
      life: undefined,
      starting: false,
      removed: false,
    };
    this.#places.set(self, place);
    return place;
  }

  #start(place: Place): void {
    if (place.life !== undefined || place.starting || place.removed) return;
    place.starting = true;
    const process = place.host.start();
    process.atEnd(() => {
      place.starting = false;
    });
    void this.#open(place, process).catch((error: unknown) => this.#failed(place, process, error));
  }

  async #open(place: Place, process: SimProcess): Promise<void> {
    const prng = this.prng.fork(`life ${place.id}/${process.generation}`);
    const store = new SimStore(place.id, this.#log, process, prng);
    const driver = await ElectionDriver.open(
      {
        self: place.id,
        clusterId: CLUSTER,
        tickMs: TICK_MS,
        limits: { ...defaultLimits, electionTicks: ELECTION_TICKS },
        rules: { strict: this.prng.chance(0.5), learnersMax: 2 },
        snapshotEntries: 20,
        keptEntries: 3,
        // As the process is told at its start, and again while no leader is heard of.
        isGivenMember: (id) => this.#places.has(id),
        firstMembers: place.isFirst ? this.#firstMembers : undefined,
      },
      {
        clock: process.clock,
        random: process.random,
        logger,
        storage: this.#storage(place, process, prng),
        network: {
          send: (to, bytes) => {
            const target = this.#places.get(to);
            if (target === undefined) return;
            this.#network.send(process, target.host, (receiver) => {
              if (target.life?.process !== receiver) return;
              const fault = target.life.driver.receive(bytes, { member: place.id, dialed: true });
              if (fault !== undefined && !EXPECTED_FAULTS.has(fault))
                throw new Error(`a message of ${place.id}: ${fault}`);
            });
          },
        },
        owner: {
          lead: (epoch) => {
            this.#counts.leads += 1;
            expect(this.#ledIn.has(epoch), `epoch ${epoch} is led twice`).toBe(false);
            this.#ledIn.add(epoch);
            store.lead(epoch);
          },
          stepDown: (epoch) => store.stepDown(epoch),
          follow: (leader, epoch) => this.#noteHolder(epoch, leader),
          noLeader: () => {},
          clusterChanged: (state) => this.#noteState(state),
          removed: () => {
            place.removed = true;
            this.#kill(place);
          },
          failed: (error) => this.#failed(place, process, error),
        },
      },
    );
    place.starting = false;
    if (!process.alive) return;
    store.driver = driver;
    place.life = { process, driver, store };
    driver.publish(`m${place.id}`, [`http://127.0.0.1:${place.id}79`]);
  }

  /** Saves take time before or after they are durable, and some fail in either way. */
  #storage(place: Place, process: SimProcess, prng: Prng): RaftStorage {
    const inner = new MemoryRaftStorage(place.disk);
    const broken = new Error('the disk is on fire');
    return {
      load: () => inner.load(),
      isOwned: (signal) => inner.isOwned(signal),
      save: async (batch) => {
        const delayMs = prng.chance(0.05) ? prng.fraction() * 3000 : prng.fraction() * 10;
        const fails = prng.chance(0.001);
        if (prng.chance(0.5)) {
          await process.delay(delayMs);
          if (fails && prng.chance(0.5)) throw broken;
          await inner.save(batch);
        } else {
          await inner.save(batch);
          await process.delay(delayMs);
        }
        if (fails) throw broken;
      },
    };
  }

  #failed(place: Place, process: SimProcess, error: unknown): void {
    const isInjected = error instanceof Error && error.message === 'the disk is on fire';
    if (!isInjected) this.failure ??= error;
    this.#counts.failures += 1;
    process.kill();
    if (place.life?.process === process) place.life = undefined;
  }

  #noteHolder(epoch: number, holder: MemberId): void {
    const known = this.#holders.get(epoch);
    if (known === undefined) this.#holders.set(epoch, holder);
    else expect(holder, `two leaders in epoch ${epoch}`).toBe(known);
  }

  #noteState({ leadership, members }: ClusterState): void {
    if (leadership !== undefined) {
      this.#noteHolder(leadership.epoch, leadership.holder);
      // The members agree on a leadership only after its store has sealed the log.
      expect(this.#log.sealed.get(leadership.epoch)).toBe(leadership.holder);
    }
    expect(members.length).toBeGreaterThan(0);
  }
}

const GAVE_UP = new Error('the client gave up');
