/** A collector in a process of its own: tells its parent its address, and on each message how many spans it has got, by their name. */
import { Collector } from '@engram/tracing/testing';

await using collector = await Collector.start();
process.on('message', () => {
  const counts: Record<string, number> = {};
  for (const { name } of collector.spans) counts[name] = (counts[name] ?? 0) + 1;
  process.send?.(counts);
});
process.send?.(collector.address);
await new Promise((resolve) => process.once('disconnect', resolve));
