import { setTimeout as sleep } from 'node:timers/promises';
import { answerOf, type Asked, compare, post } from './gateway-part.ts';
import type { Judge } from './judge.ts';
import * as ask from './methods.ts';
import { STORES } from './stores.ts';

const PAGES: readonly Asked[] = [
  ...['serializable', 'serializable=false', 'serializable=true&exclude=NOSPACE', 'exclude', 'exclude=CORRUPT'].map(
    (query) => ({ path: `/health?${query}` }),
  ),
  { path: '/health?exclude=NOSPACE' },
  { path: '/health', method: 'HEAD' },
  ...['/livez', '/readyz'].flatMap((path) => [
    { path },
    { path: `${path}?verbose` },
    { path: `${path}?verbose=false` },
    { path: `${path}?verbose&exclude=serializable_read` },
    { path: `${path}?exclude=data_corruption` },
    { path: `${path}?verbose&exclude=` },
    { path: `${path}?verbose&exclude=nothing` },
    { path, method: 'HEAD' },
    { path, method: 'POST', body: '' },
    { path: `${path}/` },
    { path: `${path}/nothing` },
    { path: `${path}/serializable_read?verbose` },
  ]),
  ...['data_corruption', 'linearizable_read', 'non_learner'].flatMap((name) => [
    { path: `/readyz/${name}` },
    { path: `/readyz/${name}?verbose&exclude=${name}` },
    { path: `/livez/${name}` },
  ]),
  { path: '/version' },
  { path: '/version?verbose' },
  { path: '/version', method: 'POST', body: '' },
  { path: '/version', method: 'HEAD' },
  { path: '/debug/vars', method: 'HEAD' },
  { path: '/debug/' },
  { path: '/debug/pprof/' },
  { path: '/metrics/' },
  { path: '/health/' },
  { path: '/' },
  { path: '/', method: 'POST', body: '{}' },
];

const raise = (alarm: string, action = 'ACTIVATE'): Asked =>
  post('/v3/maintenance/alarm', { action, memberID: 7, alarm });

/** The pages beside the gateway: health without and with each alarm, version, variables, and the names of metrics. */
export async function pagesPart(judge: Judge): Promise<void> {
  await judge.untilStorageVersion();
  const pages = async (): Promise<void> => {
    for (const asked of PAGES) await compare(judge, asked, answerOf);
  };
  await pages();
  for (const alarm of ['NOSPACE', 'CORRUPT']) {
    await compare(judge, raise(alarm), answerOf);
    await pages();
    await compare(judge, raise(alarm, 'DEACTIVATE'), answerOf);
  }
  await variables(judge);
  await metrics(judge);
  await values(judge);
}

const textOf = (judge: Judge, path: string): Promise<readonly string[]> =>
  Promise.all(STORES.map(async (_name, at) => (await fetch(`http://${judge.stores.endpoint(at)}${path}`)).text()));

/** Variables of etcd that are not here, and why. */
const VARIABLES: Readonly<Record<string, string>> = {
  'raft.status': "of etcd's Raft library; Status and the metrics tell the leader, the term and the indexes",
};

async function variables(judge: Judge): Promise<void> {
  const [etcd = {}, store = {}] = (await textOf(judge, '/debug/vars')).map((text): object => JSON.parse(text));
  const missing = Object.keys(etcd).filter((name) => !(name in store) && VARIABLES[name] === undefined);
  judge.equal("/debug/vars has etcd's names", [], missing);
}

/** Metrics of etcd that are not here, and why: a name, or the beginning of names. */
const METRICS: readonly (readonly [begin: string, why: string])[] = [
  ['go_', 'of the Go runtime'],
  ['promhttp_', 'of the handler of the page itself'],
  ['etcd_debugging_disk_backend_commit_', 'pages of bbolt: not used'],
  ['etcd_debugging_snap_save_', "Raft's snapshots: a member starts from the image in TiKV"],
  ['etcd_network_snapshot_', "Raft's snapshots between members: a member starts from the image in TiKV"],
  ['etcd_debugging_store_', 'the v2 store: there is none'],
  ['etcd_grpc_proxy_', 'of etcd grpc-proxy, which is a program of its own'],
];

interface Family {
  readonly type: string;
  /** The names of the labels of its series; undefined while it has none. */
  readonly labels: string | undefined;
}

function familiesOf(page: string): ReadonlyMap<string, Family> {
  const families = new Map<string, Family>(
    [...page.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => [name, { type, labels: undefined }]),
  );
  for (const [, name = '', text = ''] of page.matchAll(/^(\w+)(?:\{(.*)\})? /gm)) {
    const family = families.has(name) ? name : name.replace(/_(bucket|sum|count)$/, '');
    const labels = [...text.matchAll(/(\w+)="/g)].map(([, label = '']) => label).filter((label) => label !== 'le');
    const type = families.get(family)?.type ?? 'untyped';
    families.set(family, { type, labels: labels.toSorted().join() });
  }
  return families;
}

/** Whether each metric of etcd is there, with its type and, as soon as it has series, their labels. */
async function metrics(judge: Judge): Promise<void> {
  const [etcd = new Map(), store = new Map()] = (await textOf(judge, '/metrics')).map(familiesOf);
  for (const [name, { type, labels }] of etcd) {
    if (METRICS.some(([begin]) => name.startsWith(begin))) continue;
    const ours = store.get(name);
    judge.equal(`/metrics has ${name}`, type, ours?.type ?? 'nothing');
    if (labels !== undefined && ours?.labels !== undefined) judge.equal(`the labels of ${name}`, labels, ours.labels);
  }
}

/** Metrics that tell what requests have done, and so have one value. */
const VALUES = [
  'etcd_debugging_auth_revision',
  'etcd_debugging_lease_granted_total',
  'etcd_debugging_lease_revoked_total',
  'etcd_debugging_mvcc_compact_revision',
  'etcd_debugging_mvcc_current_revision',
  'etcd_debugging_mvcc_keys_total',
  'etcd_debugging_mvcc_total_put_size_in_bytes',
  'etcd_mvcc_put_total',
  'etcd_server_proposals_failed_total',
  'etcd_server_proposals_pending',
];
/** The page is made anew at most once in a second. */
const PAGE_MS = 1_100;

async function values(judge: Judge): Promise<void> {
  for (const value of ['', 'value', 'x'.repeat(1_000)]) await judge.call(ask.put, { key: 'key', value });
  await judge.call(ask.put, { key: 'none', lease: 404n });
  await judge.call(ask.leaseGrant, { ID: 7n, TTL: 600n });
  await judge.call(ask.put, { key: 'leased', lease: 7n });
  await judge.call(ask.leaseRevoke, { ID: 7n });
  await judge.call(ask.userAdd, { name: 'ann', password: 'pass' });
  await judge.compact({ revision: 3n });
  await compare(judge, raise('NOSPACE'), answerOf);
  await judge.call(ask.put, { key: 'key', value: 'refused' });
  await compare(judge, raise('NOSPACE', 'DEACTIVATE'), answerOf);
  await sleep(PAGE_MS);
  const [etcd = '', store = ''] = await textOf(judge, '/metrics');
  const shownValue = (page: string, name: string): number =>
    Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(page)?.[1] ?? Number.NaN);
  for (const name of VALUES) judge.equal(`the value of ${name}`, shownValue(etcd, name), shownValue(store, name));
}
