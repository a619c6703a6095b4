import { Following } from '@engram/backend';
import type { Clock, Logger } from '@engram/core';
import {
  EtcdClient,
  type EtcdAddress,
  EtcdSource,
  Follower,
  isMigrationError,
  type Lag,
  StoreTarget,
} from '@engram/migration';
import { ConfigError } from '../flags/flag-values.ts';
import { type NodeOptions, type RunningNode, startNode } from '../node.ts';
import type { Terminal } from '../restore/read-progress.ts';
import { ownFolder } from '../start/data-directory.ts';
import { readMigrationMark, removeMigrationMark } from '../start/migration-mark.ts';
import { SystemClock } from '../system-clock.ts';
import { SystemRandom } from '../system-random.ts';
import { type CutOverAnswer, CutOverSocket, cutOverSocketOf } from './cut-over-socket.ts';
import { foundFromEtcd } from './found-from-etcd.ts';

export interface MigrationOptions extends Pick<NodeOptions, 'config' | 'logger' | 'onFatal' | 'onRemoved'> {
  readonly from: EtcdAddress;
  readonly terminal: Terminal;
  /** Ends the founding. Nothing of it is left then. */
  readonly signal: AbortSignal;
}

/**
 * Starts a node whose store follows an etcd: founds it, or goes on where the last process has ended. It serves reads and watches, and
 * refuses writes, until the cut-over. Rejects with ConfigError if the data directory holds another store, with MigrationError, and as
 * `startNode` does. Where it cannot go on, `onFatal` is called.
 */
export async function startMigration(options: MigrationOptions): Promise<RunningNode> {
  const { config, from, logger, terminal, signal } = options;
  const clock = new SystemClock();
  const random = new SystemRandom();
  const { dataDir } = config;
  cutOverSocketOf(dataDir);
  await using opened = new AsyncDisposableStack();
  const mark = readMigrationMark(ownFolder(dataDir));
  const client = opened.use(new EtcdClient(from, mark?.clusterId));
  const source = new EtcdSource(client);
  if (mark === undefined) {
    const parts = { clock, random, logger, terminal, signal };
    await foundFromEtcd(dataDir, from.endpoints, { client, source }, parts);
  }
  const following = new Following();
  let lag: () => Lag | undefined = () => undefined;
  const node = opened.use(
    await startNode({
      config,
      logger,
      onFatal: options.onFatal,
      onRemoved: options.onRemoved,
      signal,
      following,
      migration: () => (following.active ? `follows an etcd: ${lagText(lag())}` : undefined),
    }),
  );
  const target = new StoreTarget(node.store, following.caller);
  const follower = new Follower({ source, target, clock, logger });
  lag = () => follower.lag;
  const running = opened.use(new RunningFollower(follower, options.onFatal));
  const cutOver = cutOverOf({ dataDir, follower, following, running, logger, clock });
  opened.use(await CutOverSocket.listen(dataDir, cutOver));
  // Before the socket closes: a cut-over under way ends with it.
  opened.defer(() => running.stop());
  const stack = opened.move();
  return { ...node, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

function lagText(lag: Lag | undefined): string {
  if (lag?.silentMs === undefined) return 'it has not answered yet';
  const { at, source, silentMs } = lag;
  const silent = silentMs > SILENT_MS ? `, and it has said nothing for ${Math.round(silentMs / 1000)} s` : '';
  return `${source - at} revisions behind, at ${at} of ${source}${silent}; it takes no writes before engram cut-over`;
}

/** An etcd that is there says how far it is each second. */
const SILENT_MS = 5000;

/** Follows in the background, until it is disposed or stopped. */
class RunningFollower implements AsyncDisposable {
  readonly #stop = new AbortController();
  readonly #run: Promise<void>;

  constructor(follower: Follower, onFatal: (error: Error) => void) {
    const { signal } = this.#stop;
    this.#run = follower.run(signal).catch((error: unknown) => {
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
  readonly dataDir: string;
  readonly follower: Follower;
  readonly following: Following;
  readonly running: RunningFollower;
  readonly logger: Logger;
  readonly clock: Clock;
}

function cutOverOf(parts: CutOverParts): () => Promise<CutOverAnswer> {
  const { dataDir, follower, following, running, logger, clock } = parts;
  return async () => {
    if (!following.active) return { done: true, text: 'the store takes writes already' };
    const startMs = clock.nowMs();
    try {
      await follower.end(async () => {
        // For good first: a start must never follow what others have written to.
        await removeMigrationMark(ownFolder(dataDir));
        following.end();
      }, running.signal);
    } catch (error) {
      if (!following.active) return { done: true, text: 'the store takes writes already' };
      const text = error instanceof Error ? error.message : String(error);
      logger.warn({ error: text }, 'refused the cut-over');
      return { done: false, text: isMigrationError(error) || error instanceof ConfigError ? text : `failed: ${text}` };
    }
    running.stop();
    const { at } = follower.lag;
    logger.info({ revision: at, 'took-ms': Math.round(clock.nowMs() - startMs) }, 'cut over: the store takes writes');
    return { done: true, text: `cut over at revision ${at}: the store takes writes` };
  };
}
