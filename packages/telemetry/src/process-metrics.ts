import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { observeCollections } from './collections.ts';
import type { MetricRegistry } from './metric-registry.ts';
import { exponentialBounds } from './plain-histogram.ts';

/**
 * Metrics that dashboards expect of any process. prom-client's own set would run a timer every 10 ms for the event
 * loop's delay, but an idle store should not wake up.
 */
export function registerProcessMetrics(registry: MetricRegistry): void {
  registry.counter('process_cpu_seconds_total', 'User and system CPU time in seconds.', () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
  registry.gauge('process_resident_memory_bytes', 'Resident memory.', () => process.memoryUsage.rss());
  registry.gauge('process_virtual_memory_bytes', 'Virtual memory.', () => statusKiB('VmSize') * 1024);
  registry.gauge(
    'process_virtual_memory_max_bytes',
    'Virtual memory that there may be; -1: no bound.',
    addressSpaceLimit,
  );
  registry.counter('process_network_receive_bytes_total', "Bytes that the process's network received.", () =>
    networkOctets('InOctets'),
  );
  registry.counter('process_network_transmit_bytes_total', "Bytes that the process's network sent.", () =>
    networkOctets('OutOctets'),
  );
  registry.gauge(
    'process_start_time_seconds',
    'Start of the process, in seconds since 1970.',
    () => performance.timeOrigin / 1000,
  );
  registry.beforeEach(async () => {
    descriptors = await countDescriptors();
  });
  for (const name of ['process_open_fds', 'os_fd_used'])
    registry.gauge(name, 'Open file descriptors.', openDescriptors);
  for (const name of ['process_max_fds', 'os_fd_limit'])
    registry.gauge(name, 'File descriptors that may be open.', () => descriptorLimit() ?? 0);

  registry.gauge('nodejs_heap_size_total_bytes', 'Size of the JavaScript heap.', () => process.memoryUsage().heapTotal);
  registry.gauge(
    'nodejs_heap_size_used_bytes',
    'Used part of the JavaScript heap.',
    () => process.memoryUsage().heapUsed,
  );
  registry.gauge(
    'nodejs_external_memory_bytes',
    'Memory of buffers outside the JavaScript heap.',
    () => process.memoryUsage().external,
  );
  let before = performance.eventLoopUtilization();
  registry.gauge(
    'nodejs_eventloop_utilization',
    'Share of time since the scrape before in which the event loop had work.',
    () => {
      const now = performance.eventLoopUtilization();
      const { utilization } = performance.eventLoopUtilization(now, before);
      before = now;
      return utilization;
    },
  );
  registerGoNames(registry);
  registerGcMetrics(registry);
}

/** Metrics of Go's runtime that dashboards expect, if node has an equivalent. */
function registerGoNames(registry: MetricRegistry): void {
  const memory = (name: string, help: string, read: (usage: NodeJS.MemoryUsage) => number): void =>
    registry.gauge(name, help, () => read(process.memoryUsage()));
  registry.gauge('go_info', 'The runtime, which is node.', () => [
    { labels: { version: `node ${process.version}` }, value: 1 },
  ]);
  registry.gauge('go_goroutines', 'What the event loop waits for: open files and sockets.', openDescriptors);
  registry.gauge('go_threads', 'Threads of the process.', () =>
    Number(/^Threads:\s+(\d+)/m.exec(readProc('status'))?.[1] ?? 0),
  );
  memory(
    'go_memstats_alloc_bytes',
    'Bytes in use, in the heap and in buffers.',
    ({ heapUsed, external }) => heapUsed + external,
  );
  memory(
    'go_memstats_sys_bytes',
    'Bytes that the runtime has from the system.',
    ({ heapTotal, external }) => heapTotal + external,
  );
  memory('go_memstats_heap_alloc_bytes', 'Bytes of the heap in use.', ({ heapUsed }) => heapUsed);
  memory('go_memstats_heap_inuse_bytes', 'As go_memstats_heap_alloc_bytes.', ({ heapUsed }) => heapUsed);
  memory('go_memstats_heap_sys_bytes', 'Size of the heap.', ({ heapTotal }) => heapTotal);
  memory(
    'go_memstats_heap_idle_bytes',
    'Bytes of the heap that are free.',
    ({ heapTotal, heapUsed }) => heapTotal - heapUsed,
  );
}

function registerGcMetrics(registry: MetricRegistry): void {
  const bounds = exponentialBounds(0.0005, 2, 13);
  const young = registry.histogram(
    'nodejs_gc_young_duration_seconds',
    'Pauses for collecting the young generation.',
    bounds,
  );
  const old = registry.histogram('nodejs_gc_old_duration_seconds', 'Pauses for collecting the whole heap.', bounds);
  observeCollections(({ fromMs, toMs, young: isYoung }) => (isYoung ? young : old).observe((toMs - fromMs) / 1000));
}

let descriptors = 0;

/** Open file descriptors at the last scrape. */
export const openDescriptors = (): number => descriptors;

// Linux has these in /proc. On other systems they are 0.
async function countDescriptors(): Promise<number> {
  try {
    return (await readdir('/proc/self/fd')).length;
  } catch {
    return 0;
  }
}

/** How many descriptors this process may have open; undefined if the system does not say or sets no limit. */
export function descriptorLimit(): number | undefined {
  const limit = /^Max open files\s+(\d+)/m.exec(readProc('limits'))?.[1];
  return limit === undefined ? undefined : Number(limit);
}

function addressSpaceLimit(): number {
  const limit = /^Max address space\s+(\d+)/m.exec(readProc('limits'))?.[1];
  return limit === undefined ? -1 : Number(limit);
}

/** A counter of the line pair "IpExt:" in the statistics of the process's network namespace. */
function networkOctets(name: string): number {
  const [names, values] = readProc('net/netstat')
    .split('\n')
    .filter((line) => line.startsWith('IpExt:'))
    .map((line) => line.split(' '));
  return Number(values?.[names?.indexOf(name) ?? -1] ?? 0);
}

function statusKiB(field: string): number {
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(readProc('status'))?.[1] ?? 0);
}

function readProc(file: string): string {
  try {
    return readFileSync(`/proc/self/${file}`, 'utf8');
  } catch {
    return '';
  }
}
