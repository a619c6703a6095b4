/**
 * Several whole nodes in one process, each with the flags of one argument, a JSON list. They share compiled code, heap and collector, so
 * the CPU that they take can be compared closer than that of two processes.
 */
import { readConfiguration, startNode } from '@engram/server';
import { createLogger } from '@engram/telemetry';

const logger = createLogger({ level: 'warn', format: 'json', outputs: ['stderr'] });
const onFatal = (error: Error): never => {
  logger.fatal({ error }, 'a node cannot go on');
  process.exit(1);
};
await using nodes = new AsyncDisposableStack();
for (const flags of process.argv.slice(2)) {
  const configuration = await readConfiguration(flagsOf(flags), {});
  if (configuration.kind !== 'config') throw new Error(`no node: ${flags}`);
  const { config } = configuration;
  nodes.use(await startNode({ config, logger, onFatal, onRemoved: () => onFatal(new Error('removed')) }));
}
await new Promise((resolve) => process.once('SIGTERM', resolve));

function flagsOf(json: string): readonly string[] {
  const flags: unknown = JSON.parse(json);
  if (!Array.isArray(flags)) throw new Error(`no list of flags: ${json}`);
  return flags.map(String);
}
