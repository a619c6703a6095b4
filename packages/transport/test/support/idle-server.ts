/**
 * A server in its own process, for tests of what connections cost. It reports its port when it serves, and on each
 * message the number of bytes that it holds.
 */
import { serve } from '@engram/transport';
import { echoMethods } from './echo-methods.ts';
import { quiet, realClock } from '@engram/sim';

const { address } = await serve({
  methods: echoMethods([]),
  http: () => ({ status: 404, headers: {}, body: '' }),
  listen: { kind: 'tcp', host: '127.0.0.1', port: 0 },
  protocols: 'both',
  maxRequestBytes: 1024 * 1024,
  maxConcurrentStreams: 1_000,
  keepalive: { minTimeMs: 5_000, intervalMs: 7_200_000, timeoutMs: 20_000 },
  logger: quiet,
  clock: realClock,
});

process.on('message', () => process.send?.({ heldBytes: process.memoryUsage().rss }));
process.on('disconnect', () => process.exit());
process.send?.({ port: address.kind === 'tcp' ? address.port : 0 });
