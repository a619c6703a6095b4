import { createLogger, type ProcessLogger } from '@engram/telemetry';
import type { ClusterConfig } from './cluster/cluster-config.ts';
import { type Configuration, readConfiguration } from './config/configuration.ts';
import type { MirrorConfig } from './config/mirror-config.ts';
import type { NodeConfig } from './config/node-config.ts';
import type { RestoreConfig } from './config/restore-config.ts';
import { end, EXIT_FAILED, runMigration, runNode, stopSignals } from './run-node.ts';
import { helpText, usageText } from './flags/usage.ts';
import { versionText } from './version.ts';

const EXIT_USAGE = 2;

/** The process: reads the configuration, runs one member, and ends with it. */
async function main(args: readonly string[]): Promise<void> {
  // Node would not verify the certificates of TiKV and of other members. The launcher drops it, too.
  delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
  const configuration = await readOrEnd(args);
  switch (configuration.kind) {
    case 'help':
      process.stdout.write(helpText());
      return;
    case 'version':
      process.stdout.write(versionText());
      return;
    case 'usage':
      process.stderr.write(`${configuration.problem}\n${usageText}`);
      process.exitCode = EXIT_USAGE;
      return;
    case 'inspect':
      await inspect(configuration.cluster);
      return;
    case 'health':
      await printHealth(configuration.config);
      return;
    case 'restore':
      await restore(configuration.config);
      return;
    case 'mirror':
      await mirror(configuration.config);
      return;
    case 'cut-over':
      await cutOver(configuration.config);
      return;
    case 'migrate':
      await runMigration(configuration.config, configuration.from, args);
      return;
    case 'config':
      await runNode(configuration.config, args);
  }
}

async function readOrEnd(args: readonly string[]): Promise<Configuration> {
  try {
    return await readConfiguration(args, process.env);
  } catch (error) {
    const logger = createLogger({ level: 'info', format: 'json', outputs: ['stderr'] });
    return end(logger, 'failed to verify flags', error);
  }
}

async function inspect(cluster: ClusterConfig): Promise<void> {
  const logger = createLogger({ level: 'info', format: 'json', outputs: ['stderr'] });
  try {
    const { storageText } = await import('./inspect-storage.ts');
    process.stdout.write(await storageText(cluster));
  } catch (error) {
    return end(logger, 'cannot inspect the storage', error);
  }
}

/** Ends with 0 if the member is ready: for probes where there is neither a shell nor an HTTP client. */
async function printHealth(config: NodeConfig): Promise<void> {
  const { askHealth } = await import('./ask-health.ts');
  const { ready, text } = await askHealth(config);
  (ready ? process.stdout : process.stderr).write(`${text}\n`);
  if (!ready) process.exitCode = EXIT_FAILED;
}

async function restore(config: RestoreConfig): Promise<void> {
  const logger = createLogger({ level: 'warn', format: 'json', outputs: ['stderr'] });
  for (const warning of config.warnings) logger.warn({}, warning);
  const signal = stopSignal(logger);
  try {
    const { restoreHere } = await import('./restore/restore-here.ts');
    process.stdout.write(await restoreHere(config, { logger, terminal: process.stderr, signal }));
  } catch (error) {
    return end(logger, 'cannot restore', error);
  }
}

/** Ends with 0 if the store that follows an etcd on this machine takes writes from now on, otherwise with 1 and why not. */
async function cutOver(config: NodeConfig): Promise<void> {
  const logger = createLogger({ level: 'info', format: 'json', outputs: ['stderr'] });
  try {
    const { askForCutOver } = await import('./migrate/cut-over-socket.ts');
    const { done, text } = await askForCutOver(config.dataDir);
    (done ? process.stdout : process.stderr).write(`${text}\n`);
    if (!done) process.exitCode = EXIT_FAILED;
  } catch (error) {
    return end(logger, 'cannot cut over', error);
  }
}

async function mirror(config: MirrorConfig): Promise<void> {
  const logger = createLogger({ level: 'info', format: 'json', outputs: ['stderr'] });
  const signal = stopSignal(logger);
  try {
    const { mirror: run } = await import('./migrate/mirror.ts');
    process.stdout.write(await run(config, { logger, signal }));
    process.exit(0);
  } catch (error) {
    return end(logger, 'cannot mirror', error);
  }
}

/** Aborts at the first signal that asks for a stop. The second one ends the process, whatever is left. */
function stopSignal(logger: ProcessLogger): AbortSignal {
  const { first, second } = stopSignals();
  const stop = new AbortController();
  void first.then((signal) => stop.abort(new Error(`stopped by ${signal}`)));
  void second.then(() => end(logger, 'received a second signal; ending at once', undefined));
  return stop.signal;
}

// Not awaited: in a release this module is a function, which cannot wait.
void main(process.argv.slice(2));
