import type { EtcdAddress } from '@engram/migration';
import { createLogger, type ProcessLogger } from '@engram/telemetry';
import type { NodeConfig } from './config/node-config.ts';
import type { NodeOptions, RunningNode } from './node.ts';
import { shownArguments } from './shown-arguments.ts';
import { notifyReady } from './systemd.ts';
import { ENGRAM_VERSION, ETCD_VERSION } from './version.ts';

/** The longest time of a stop. The sender of the signal (kubelet, systemd, a test) waits and then kills. */
const STOP_MAX_MS = 5000;
export const EXIT_FAILED = 1;

/** Runs one member until a signal or its removal, and ends the process. `args` are for the log. */
export async function runNode(config: NodeConfig, args: readonly string[]): Promise<void> {
  await run(config, args, async (options) => {
    const { startNode } = await import('./node.ts'); // not needed for --version, which tests run often
    return await startNode(options);
  });
}

/** As runNode, for a store that follows the etcd at `from`. A start that is ended leaves nothing of a founding. */
export async function runMigration(config: NodeConfig, from: EtcdAddress, args: readonly string[]): Promise<void> {
  const unwanted = new AbortController();
  const start: Start = async (options) => {
    const { startMigration } = await import('./migrate/start-migration.ts');
    return await startMigration({ ...options, from, terminal: process.stderr, signal: unwanted.signal });
  };
  await run(config, args, start, async (started, why, insisting) => {
    unwanted.abort(new Error(`stopped by ${why}`));
    const late = Promise.withResolvers<void>();
    setTimeout(() => late.resolve(), STOP_MAX_MS - 200).unref();
    await Promise.race([started.catch(() => {}), insisting, late.promise]);
  });
}

type Start = (options: Pick<NodeOptions, 'config' | 'logger' | 'onFatal' | 'onRemoved'>) => Promise<RunningNode>;
/** Ends a start that is not wanted any more, in bounded time. */
type CleanUp = (started: Promise<RunningNode>, why: string, insisting: Promise<unknown>) => Promise<void>;

async function run(config: NodeConfig, args: readonly string[], start: Start, cleanUp?: CleanUp): Promise<void> {
  let logger: ProcessLogger;
  try {
    logger = createLogger(config.log);
  } catch (error) {
    return end(createLogger({ level: 'info', format: 'json', outputs: ['stderr'] }), 'cannot log', error);
  }
  process.on('uncaughtException', (error) =>
    end(logger, 'a bug, or a broken promise of the system', error, error.stack),
  );
  // As in Go's programs. Otherwise it ends the process; scripts that rotate logs send it.
  process.on('SIGUSR2', () => {});
  // Registered first, so that a signal also stops a long start.
  const { first: stopping, second: insisting } = stopSignals();

  logger.info(
    { version: ENGRAM_VERSION, 'etcd-version': ETCD_VERSION, node: process.version, args: shownArguments(args) },
    'starting a node',
  );
  for (const warning of config.warnings) logger.warn({}, warning);
  // As in etcd, a member that was removed ends in order and with 0, so that nothing starts it again.
  const removed = Promise.withResolvers<'removed'>();
  let node: RunningNode;
  try {
    const options = {
      config,
      logger,
      onFatal: (error: Error) => end(logger, 'the node cannot go on', error),
      onRemoved: () => {
        logger.warn({}, 'the member has been permanently removed from the cluster');
        removed.resolve('removed');
      },
    };
    const started = start(options);
    const first = await Promise.race([started, stopping, removed.promise]);
    if (typeof first === 'string') {
      await cleanUp?.(started, first, insisting);
      logger.info(first === 'removed' ? {} : { signal: first }, 'stopped while starting');
      process.exit(0);
    }
    node = first;
  } catch (error) {
    return end(logger, 'failed to start', error);
  }
  const { memberId, clusterId } = node.identity;
  const ids = { 'member-id': memberId.toString(16), 'cluster-id': clusterId.toString(16) };
  logger.info({ name: config.name, ...ids, 'data-dir': config.dataDir }, 'now serving');
  notifyReady(process.env, logger);

  const why = await Promise.race([stopping, removed.promise]);
  if (why !== 'removed') logger.info({ signal: why }, 'received signal; shutting down');
  void insisting.then(() => end(logger, 'received a second signal; ending at once', undefined));
  await stop(node, logger);
}

/**
 * The first and the second signal that ask for a stop. Both share one listener that is never replaced: a signal that
 * arrives between the removal of one listener and the addition of the next is lost.
 */
export function stopSignals(): { readonly first: Promise<NodeJS.Signals>; readonly second: Promise<NodeJS.Signals> } {
  const first = Promise.withResolvers<NodeJS.Signals>();
  const second = Promise.withResolvers<NodeJS.Signals>();
  let heard = 0;
  const listener = (signal: NodeJS.Signals): void => {
    heard += 1;
    (heard === 1 ? first : second).resolve(signal);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, listener);
  return { first: first.promise, second: second.promise };
}

async function stop(node: RunningNode, logger: ProcessLogger): Promise<never> {
  setTimeout(() => end(logger, 'the stop took too long', undefined), STOP_MAX_MS - 200).unref();
  try {
    await node[Symbol.asyncDispose]();
  } catch (error) {
    return end(logger, 'failed to stop in order', error);
  }
  logger.info({}, 'closed');
  process.exit(0);
}

/** Logs the message, and ends the process with 1. */
export function end(logger: ProcessLogger, message: string, error: unknown, stack?: string): never {
  logger.fatal({ ...(error === undefined ? {} : { error }), ...(stack === undefined ? {} : { stack }) }, message);
  process.exit(EXIT_FAILED);
}
