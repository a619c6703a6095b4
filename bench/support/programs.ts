import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, statSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** The release that Engram is compared with. bench/etcd/go.mod and go.sum pin it exactly. */
const ETCD_VERSION = 'v3.7.3';

const here = join(import.meta.dirname, '..');
/** Programs are built once and kept here. */
const cache = process.env['ENGRAM_BENCH_CACHE'] ?? join(homedir(), '.cache/engram-bench');
const BUILD_MAX_MS = 20 * 60_000;

/** The two stores, in the order of the columns. */
export type StoreName = 'engram' | 'etcd';
export const storeNames: readonly StoreName[] = ['engram', 'etcd'];

/** The command of a store. The caller appends etcd's flags. STORE_CMD and BASE_CMD override it. */
export function commandOf(name: StoreName): readonly string[] {
  const set = process.env[name === 'engram' ? 'STORE_CMD' : 'BASE_CMD'];
  if (set !== undefined && set !== '') return set.split(' ');
  return [name === 'engram' ? join(here, '../packages/server/bin/engram') : etcd()];
}

/** The load generator, rebuilt if its sources are newer. */
export function loadgen(): string {
  const source = join(here, 'loadgen');
  const newestMs = Math.max(...readdirSync(source).map((file) => statSync(join(source, file)).mtimeMs));
  return built('loadgen', source, '.', newestMs);
}

const etcd = (): string => built(`etcd-${ETCD_VERSION}`, join(here, 'etcd'), 'go.etcd.io/etcd/server/v3', 0);

/** etcd's own benchmark, from the release in bench/etcd-tool/go.mod: the modules of 3.7 do not contain it. */
export const etcdTool = (): string =>
  built('etcd-benchmark-v3.6.8', join(here, 'etcd-tool'), 'go.etcd.io/etcd/v3/tools/benchmark', 0);

/** A tool of etcd's, of the same release, by the modules that e2e pins. */
export const etcdCommand = (tool: 'etcdctl' | 'etcdutl'): string =>
  built(`${tool}-${ETCD_VERSION}`, join(here, 'etcd'), `go.etcd.io/etcd/${tool}/v3`, 0, [
    `-modfile=${join(here, '../e2e/etcd/tests.mod')}`,
  ]);

function built(name: string, cwd: string, what: string, newerThanMs: number, flags: readonly string[] = []): string {
  const out = join(cache, name);
  if (existsSync(out) && statSync(out).mtimeMs >= newerThanMs) return out;
  mkdirSync(cache, { recursive: true });
  console.error(`building ${name} into ${cache}`);
  // Renamed only when it is complete.
  const partial = `${out}.${process.pid}`;
  execFileSync('go', ['build', '-mod=readonly', '-trimpath', '-buildvcs=false', ...flags, '-o', partial, what], {
    cwd,
    stdio: ['ignore', 'inherit', 'inherit'],
    timeout: BUILD_MAX_MS,
  });
  renameSync(partial, out);
  return out;
}
