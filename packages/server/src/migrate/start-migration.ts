import { Following } from '@engram/backend';
import type { Clock, Logger } from '@engram/core';
import { EtcdClient, type EtcdAddress, EtcdSource, isMigrationError, LeadingFollower } from '@engram/migration';
import type { NodeConfig } from '../config/node-config.ts';
import { ConfigError } from '../flags/flag-values.ts';
import { type NodeOptions, type RunningNode, startNode } from '../node.ts';
import type { Terminal } from '../restore/read-progress.ts';
import { SystemClock } from '../system-clock.ts';
import { SystemRandom } from '../system-random.ts';
import { type CutOverAnswer, CutOverSocket, cutOverSocketOf } from './cut-over-socket.ts';
import { LonePlace } from './lone-place.ts';
import type { MigrationPlace, PlaceParts } from './migration-place.ts';
import { stateText } from './state-text.ts';

export interface MigrationOptions extends Pick<NodeOptions, 'config' | 'logger' | 'onFatal' | 'onRemoved'> {
  readonly from: EtcdAddress;
  readonly terminal: Terminal;
  /** Ends the founding. Nothing of it is a store then. */
  readonly signal: AbortSignal;
}

/**
 * Starts a node whose store follows an etcd: founds it, or goes on where the last process, or the last leader, has ended. It serves
 * reads and watches, and refuses writes, until the cut-over. In a cluster every member is started so, and the one that leads follows.
 * Rejects with ConfigError if another store is there, with MigrationError, and as `startNode` does. Where it cannot go on, `onFatal` is
 * called.
 */
export async function startMigration(options: MigrationOptions): Promise<RunningNode> {
  const { config, from, logger, terminal, signal } = options;
  const clock = new SystemClock();
  const { dataDir } = config;
  cutOverSocketOf(dataDir);
  await using opened = new AsyncDisposableStack();
  const place = opened.use(await placeOf(config, { clock, random: new SystemRandom(), logger, terminal, signal }));
  const mark = await place.followed(signal);
  const client = opened.use(new EtcdClient(from, mark?.clusterId));
  const source = new EtcdSource(client);
  if (mark === undefined) await place.found({ client, source, from: from.endpoints });
  const following = new Following();
  let state = (): string => 'it has not answered yet';
  const node = opened.use(
    await startNode({
      config,
      logger,
      onFatal: options.onFatal,
      onRemoved: options.onRemoved,
      signal,
      following,
      migration: () => (following.active ? `follows an etcd: ${state()}` : undefined),
    }),
  );
  const { store, stats } = node;
  const follower = new LeadingFollower({ source, store, stats, following, mark: place, clock, logger });
  state = () => stateText(follower.lag, node.cluster);
  const running = opened.use(new RunningFollower(follower, place, options.onFatal));
  const cutOver = cutOverOf({ follower, following, running, logger, clock });
  opened.use(await CutOverSocket.listen(dataDir, cutOver));
  // Before the socket closes: a cut-over under way ends with it.
  opened.defer(() => running.stop());
  const stack = opened.move();
  return { ...node, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

async function placeOf(config: NodeConfig, parts: PlaceParts): Promise<MigrationPlace> {
  if (config.cluster === undefined) return new LonePlace(config, parts);
  // A node on its own does not load the client of TiKV.
  const { TikvPlace } = await import('./tikv-place.ts');
  return await TikvPlace.open(config, config.cluster, parts);
}

/** Follows in the background, until it is disposed or stopped. */
class RunningFollower implements AsyncDisposable {
  readonly #stop = new AbortController();
  readonly #run: Promise<void>;

  constructor(follower: LeadingFollower, place: MigrationPlace, onFatal: (error: Error) => void) {
    const { signal } = this.#stop;
    this.#run = follower
      .run(signal)
      .then(() => place[Symbol.asyncDispose]())
      .catch((error: unknown) => {
        if (!signal.aborted) onFatal(new Error('the store cannot follow the etcd any more', { cause: error }));
      });
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  stop(): void {
    this.#stop.abort(new Error('the following has ended'));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stop();
    await this.#run;
  }
}

interface CutOverParts {
  readonly follower: LeadingFollower;
  readonly following: Following;
  readonly running: RunningFollower;
  readonly logger: Logger;
  readonly clock: Clock;
}

function cutOverOf({ follower, following, running, logger, clock }: CutOverParts): () => Promise<CutOverAnswer> {
  return async () => {
    if (!following.active) return { done: true, text: 'the store takes writes already' };
    const startMs = clock.nowMs();
    let at: number;
    try {
      at = await follower.cutOver(running.signal);
    } catch (error) {
      if (!following.active) return { done: true, text: 'the store takes writes already' };
      const text = error instanceof Error ? error.message : String(error);
      logger.warn({ error: text }, 'refused the cut-over');
      return { done: false, text: isMigrationError(error) || error instanceof ConfigError ? text : `failed: ${text}` };
    }
    logger.info({ revision: at, 'took-ms': Math.round(clock.nowMs() - startMs) }, 'cut over: the store takes writes');
    return { done: true, text: `cut over at revision ${at}: the store takes writes` };
  };
}
