/**
 * The architecture as data: which layer each package is in, and which packages of other layers it may import.
 * test/layers.test.ts holds the imports of every file against it. A package imports packages of lower layers and
 * those before it in its own, and among these only the ones named here.
 */
export const layers = {
  words: ['core'],
  'pure logic': ['coder', 'protobuf', 'wire', 'index', 'tso', 'lease', 'watch-hub'],
  'over ports': ['storage', 'writer', 'retry-queue', 'scanner', 'backend', 'etcd-api'],
  adapters: ['transport', 'storage-leveldb', 'storage-segment', 'telemetry', 'tikv-client'],
  composition: ['server', 'sim'],
} as const;

export const mayImport: Readonly<Record<string, readonly string[]>> = {
  core: [],
  coder: ['core'],
  protobuf: ['core'],
  wire: ['core', 'protobuf'],
  index: ['core'],
  tso: ['core'],
  lease: ['core'],
  'watch-hub': ['core'],
  storage: ['core', 'coder'],
  writer: ['core', 'storage'],
  'retry-queue': ['core', 'storage'],
  scanner: ['core', 'coder', 'index', 'storage'],
  backend: ['core', 'coder', 'index', 'tso', 'lease', 'watch-hub', 'storage', 'writer', 'scanner'],
  'etcd-api': ['core', 'coder', 'wire', 'watch-hub', 'backend'],
  transport: ['core', 'wire'],
  'storage-leveldb': ['core', 'coder', 'storage'],
  'storage-segment': ['core', 'coder', 'storage'],
  telemetry: ['core'],
  'tikv-client': ['core', 'protobuf'],
  server: [
    'core',
    'wire',
    'backend',
    'etcd-api',
    'storage',
    'storage-leveldb',
    'storage-segment',
    'telemetry',
    'transport',
  ],
  sim: ['core', 'storage', 'storage-segment'],
};

/** Layers 0 to 2 know neither time nor chance nor a socket: their sources may not name these. */
export const pureLayers = ['words', 'pure logic', 'over ports'] as const;
export const impurePatterns: readonly RegExp[] = [
  /\bDate\.now\(/,
  /\bMath\.random\(/,
  /\bsetTimeout\(/,
  /\bsetInterval\(/,
  /\bsetImmediate\(/,
  /\bprocess\.hrtime/,
  /\bperformance\.now/,
  /from 'node:(?:net|fs|fs\/promises|tls|http|http2|https|dgram|child_process|timers|worker_threads)'/,
];
