/**
 * The architecture as data: which layer each package is in, and what it may import. test/layers.test.ts holds every
 * file against it. Permissions that no file uses are refused too, so the lists are the graph as it is.
 */

/** A package imports packages of lower layers and those before it in its own, among these only the ones it lists. */
export const layers = {
  words: ['core'],
  'pure logic': ['protobuf', 'coder', 'wire', 'index', 'sequencer', 'lease', 'watch-hub', 'raft-ts'],
  'over ports': ['election', 'storage', 'writer', 'retry-queue', 'scanner', 'backend', 'etcd-api', 'member'],
  adapters: ['transport', 'storage-leveldb', 'storage-segment', 'telemetry', 'tikv-client', 'storage-tikv', 'peer'],
  composition: ['server', 'sim'],
} as const;

/** What the sources of a package (index.ts and src/, without src/testing/) may import: by the main face alone. */
export const mayImport: Readonly<Record<string, readonly string[]>> = {
  core: [],
  protobuf: ['core'],
  coder: ['core', 'protobuf'],
  wire: ['core', 'protobuf'],
  index: ['core'],
  sequencer: ['core'],
  lease: ['core'],
  'watch-hub': ['core'],
  'raft-ts': ['core', 'protobuf'],
  election: ['core', 'protobuf', 'raft-ts'],
  storage: ['core'],
  writer: ['core', 'storage'],
  'retry-queue': ['core', 'storage'],
  scanner: ['core', 'coder', 'index', 'storage'],
  backend: ['core', 'coder', 'index', 'sequencer', 'lease', 'watch-hub', 'storage', 'writer', 'scanner'],
  'etcd-api': ['core', 'wire', 'watch-hub', 'backend'],
  member: ['core', 'protobuf', 'wire', 'election', 'storage', 'retry-queue', 'backend', 'etcd-api'],
  peer: ['core', 'protobuf', 'storage', 'member'],
  transport: ['core', 'wire'],
  'storage-leveldb': ['core', 'storage'],
  'storage-segment': ['core', 'storage'],
  telemetry: ['core'],
  'tikv-client': ['core', 'protobuf'],
  'storage-tikv': ['core', 'election', 'storage', 'tikv-client'],
  server: [
    'core',
    'election',
    'member',
    'peer',
    'raft-ts',
    'storage',
    'storage-leveldb',
    'storage-segment',
    'storage-tikv',
    'telemetry',
    'tikv-client',
    'transport',
  ],
  sim: ['core', 'storage', 'storage-segment'],
};

/** Packages that tests are made of. No other package's sources import them; their own use every face of what they list. */
export const testPackages: readonly string[] = ['sim'];

/**
 * What the rest of a package (tests, benchmarks, contract suites, tools) may import besides itself, what its sources may
 * import, and `testPackages`: by every face.
 */
export const testsMayImport: Readonly<Record<string, readonly string[]>> = {
  'etcd-api': ['storage'],
  member: ['coder', 'raft-ts'],
  'storage-segment': ['storage-leveldb'],
  'storage-tikv': ['retry-queue', 'storage-segment'],
  server: ['backend', 'wire'],
};

/** Layers 0 to 2 know neither time nor chance nor the machine: their sources may not name these. */
export const pureLayers = ['words', 'pure logic', 'over ports'] as const;
export const impure: readonly RegExp[] = [
  /\bDate\.now\b/,
  /\bnew Date\(\)/,
  /\bperformance\.now\b/,
  /\bMath\.random\b/,
  /\bset(?:Timeout|Interval|Immediate)\b/,
  /\bAbortSignal\.timeout\b/,
  /\bprocess\.(?:hrtime|nextTick|uptime|env|argv|cpuUsage|memoryUsage|on|once|exit|kill)\b/,
  // Hashes of node:crypto are pure, its numbers are not.
  /\b(?:randomBytes|randomInt|randomUUID|randomFill|randomFillSync|getRandomValues|generateKey\w*)\b/,
  /'node:(?:child_process|cluster|dgram|dns|fs|http|http2|https|net|os|perf_hooks|readline|timers|tls|worker_threads)(?:\/\w+)?'/,
];

/** Lines. A longer file is split by what it is about; generated ones are not read. */
export const linesMax = 500;
