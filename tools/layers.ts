/**
 * The architecture as data: the layer of each package, and what it may import. test/layers.test.ts checks every file.
 * Permissions that no file uses are refused, so the lists are the actual graph.
 */

/** A package may import packages of lower layers, and those before it in its own layer, if it lists them. */
export const layers = {
  words: ['core', 'loop'],
  'pure logic': [
    'protobuf',
    'coder',
    'wire',
    'auth',
    'http2',
    'bbolt',
    'index',
    'sequencer',
    'lease',
    'watch-hub',
    'raft-ts',
  ],
  'over ports': [
    'tso',
    'election',
    'storage',
    'writer',
    'retry-queue',
    'scanner',
    'backend',
    'etcd-api',
    'member',
    'importer',
    'gateway',
  ],
  adapters: [
    'transport',
    'storage-leveldb',
    'storage-segment',
    'telemetry',
    'tracing',
    'metrics-otlp',
    'tikv-client',
    'storage-tikv',
    'peer',
    'migration',
  ],
  composition: ['server', 'engramctl', 'sim'],
} as const;

/** What the sources of a package (index.ts and src/, without src/testing/) may import: only the main face. */
export const mayImport: Readonly<Record<string, readonly string[]>> = {
  core: [],
  loop: ['core'],
  protobuf: ['core'],
  coder: ['core', 'loop', 'protobuf'],
  wire: ['core', 'protobuf'],
  auth: ['core', 'loop', 'protobuf', 'coder', 'wire'],
  http2: ['core'],
  bbolt: ['core'],
  index: ['core', 'loop'],
  sequencer: ['core', 'loop'],
  lease: ['core', 'loop'],
  'watch-hub': ['core', 'loop'],
  'raft-ts': ['core', 'protobuf'],
  tso: ['core'],
  election: ['core', 'protobuf', 'raft-ts'],
  storage: ['core'],
  writer: ['core', 'storage'],
  'retry-queue': ['core', 'storage'],
  scanner: ['core', 'loop', 'coder', 'index', 'storage'],
  backend: [
    'core',
    'loop',
    'coder',
    'auth',
    'index',
    'sequencer',
    'lease',
    'watch-hub',
    'storage',
    'writer',
    'scanner',
  ],
  'etcd-api': ['core', 'loop', 'wire', 'auth', 'bbolt', 'watch-hub', 'backend'],
  member: [
    'core',
    'loop',
    'protobuf',
    'wire',
    'auth',
    'coder',
    'election',
    'storage',
    'retry-queue',
    'backend',
    'etcd-api',
  ],
  importer: ['core', 'coder', 'wire', 'auth', 'bbolt', 'index', 'storage'],
  gateway: ['core', 'loop', 'protobuf', 'wire'],
  peer: ['core', 'loop', 'protobuf', 'storage', 'member', 'transport'],
  migration: ['core', 'wire', 'backend'],
  transport: ['core', 'loop', 'wire', 'http2'],
  'storage-leveldb': ['core', 'storage'],
  'storage-segment': ['core', 'loop', 'storage', 'storage-leveldb'],
  telemetry: ['core', 'loop', 'protobuf'],
  tracing: ['core'],
  'metrics-otlp': ['core', 'loop', 'protobuf', 'telemetry'],
  'tikv-client': ['core', 'protobuf', 'http2', 'tso'],
  'storage-tikv': ['core', 'loop', 'election', 'storage', 'tikv-client', 'tso'],
  server: [
    'core',
    'loop',
    'bbolt',
    'backend',
    'election',
    'etcd-api',
    'gateway',
    'importer',
    'member',
    'metrics-otlp',
    'migration',
    'peer',
    'raft-ts',
    'storage',
    'storage-leveldb',
    'storage-segment',
    'storage-tikv',
    'telemetry',
    'tikv-client',
    'tracing',
    'transport',
    'tso',
    'wire',
  ],
  engramctl: ['core', 'protobuf', 'wire', 'bbolt', 'importer', 'server'],
  sim: ['core', 'coder', 'storage', 'storage-segment'],
};

/**
 * Packages for tests. No other package's sources may import them. Their own sources may use every face of what they
 * list.
 */
export const testPackages: readonly string[] = ['sim'];

/**
 * What the rest of a package (tests, benchmarks, contract suites, tools) may import besides itself, what its sources
 * may import, and `testPackages`. Any face.
 */
export const testsMayImport: Readonly<Record<string, readonly string[]>> = {
  sequencer: ['index'],
  'etcd-api': ['protobuf', 'storage'],
  importer: ['backend', 'etcd-api'],
  gateway: ['backend', 'etcd-api', 'storage'],
  member: ['raft-ts'],
  peer: ['election'],
  'metrics-otlp': ['tracing'],
  migration: ['storage'],
  'storage-tikv': ['retry-queue', 'storage-segment'],
  server: ['http2'],
};

// The sources of layers 0 to 2 know no time, no chance and no machine: they may not name these.
export const pureLayers = ['words', 'pure logic', 'over ports'] as const;
export const impure: readonly RegExp[] = [
  /\bDate\.now\b/,
  /\bnew Date\(\)/,
  /\bperformance\.now\b/,
  /\bMath\.random\b/,
  /\bset(?:Timeout|Interval|Immediate)\b/,
  /\bAbortSignal\.timeout\b/,
  /\bprocess\.(?:hrtime|nextTick|uptime|env|argv|cpuUsage|memoryUsage|on|once|exit|kill)\b/,
  // node:crypto's hashes are pure, its random numbers are not.
  /\b(?:randomBytes|randomInt|randomUUID|randomFill|randomFillSync|getRandomValues|generateKey\w*)\b/,
  /'node:(?:child_process|cluster|dgram|dns|fs|http|http2|https|net|os|perf_hooks|readline|timers|tls|worker_threads)(?:\/\w+)?'/,
];

/** The most lines of a file. A longer one must be split by meaning. Generated files are exempt. */
export const linesMax = 500;
