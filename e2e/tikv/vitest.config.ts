import { defineConfig } from 'vitest/config';

// Separate from the project's own tests, because these need a lab.
export default defineConfig({
  test: { root: import.meta.dirname, include: ['*.test.ts'], testTimeout: 120_000, hookTimeout: 60_000, maxWorkers: 1 },
});
