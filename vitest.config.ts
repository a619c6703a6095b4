import { defineConfig } from 'vitest/config';

/**
 * Packages without sockets, processes and state of modules. Their tests share the modules that they load: a file alone takes a quarter
 * of a second of a core to begin, and loads them once more.
 */
const pure = [
  ...['auth', 'backend', 'bbolt', 'coder', 'core', 'election', 'etcd-api', 'gateway', 'http2', 'index', 'lease'],
  ...['loop', 'member', 'protobuf', 'raft-ts', 'retry-queue', 'scanner', 'sequencer', 'sim', 'storage', 'tso'],
  ...['watch-hub', 'wire', 'writer'],
].map((name) => `packages/${name}/test/**/*.test.ts`);

export default defineConfig({
  test: {
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Two cores are the machine we promise to be tested on.
    maxWorkers: 2,
    projects: [
      { extends: true, test: { name: 'pure', include: pure, isolate: false } },
      {
        extends: true,
        test: { name: 'own', include: ['packages/*/test/**/*.test.ts', 'test/**/*.test.ts'], exclude: pure },
      },
    ],
  },
});
