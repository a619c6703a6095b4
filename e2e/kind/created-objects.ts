import { setTimeout as sleep } from 'node:timers/promises';
import { equal } from '../support/judge.ts';
import type { KindCluster, Manifest } from './kind-cluster.ts';
import { KubeApi } from './kube-api.ts';

const PODS = 20;
/** How many of them are acknowledged before the fault. */
const PODS_BEFORE = 6;
const BETWEEN_PODS_MS = 500;
const BETWEEN_MAPS_MS = 20;
const PODS_PATH = '/api/v1/namespaces/default/pods';
const MAPS_PATH = '/api/v1/namespaces/default/configmaps';
const SEEN_MAX_MS = 30_000;
const SERVER_MAX_MS = 120_000;
/** How often the API server has filled its cache of a resource: once for each, and again after a watch that it could not resume. */
const LISTED = 'apiserver_watch_cache_initializations_total';

const pod = (name: string, image: string): Manifest => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: { containers: [{ name: 'pause', image, imagePullPolicy: 'Never' }], terminationGracePeriodSeconds: 0 },
});

const map = (name: string): Manifest => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { name } });

/**
 * Creates pods and other objects through the API server while the store below it fails. Rejects unless a watch has seen each pod
 * appear once, the API server has listed nothing again, a new API server finds all that was acknowledged, and all pods become ready.
 */
export async function createdUnder(cluster: KindCluster, name: string, fault: () => Promise<void>): Promise<void> {
  const api = new KubeApi(await cluster.access());
  const images = await cluster.onNode(cluster.controlPlane, ['ctr', '--namespace=k8s.io', 'images', 'list', '--quiet']);
  const image = images.split('\n').find((line) => /\/pause:/.test(line));
  if (image === undefined) throw new Error(`the node has no image that waits: ${images}`);
  await serviceAccount(api);

  const [listed, started] = [await api.metric(LISTED), await api.startedSeconds()];
  if (listed === 0) throw new Error(`the API server does not count ${LISTED}`);
  const appeared: string[] = [];
  const { resourceVersion } = await api.list(PODS_PATH);
  await using _ = api.watch(PODS_PATH, resourceVersion, (type, { metadata }) => {
    if (type === 'ERROR') appeared.push('an error');
    if (type === 'ADDED') appeared.push(metadata.name);
  });

  const times: number[] = [];
  const maps: string[] = [];
  const stop = new AbortController();
  const writing = (async () => {
    for (let at = 0; !stop.signal.aborted; at += 1) {
      await api.create(MAPS_PATH, map(`made-${at}`));
      times.push(performance.now());
      maps.push(`made-${at}`);
      await sleep(BETWEEN_MAPS_MS);
    }
  })();
  writing.catch(() => undefined);
  const pods = Array.from({ length: PODS }, (_, at) => `pod-${at}`);
  let failing: Promise<void> | undefined;
  let failedMs = 0;
  try {
    for (const [at, each] of pods.entries()) {
      if (at === PODS_BEFORE) {
        failedMs = performance.now();
        failing = fault();
        failing.catch(() => undefined);
      }
      await api.create(PODS_PATH, pod(each, image));
      await sleep(BETWEEN_PODS_MS);
    }
    await failing;
    await sleep(1_000);
  } finally {
    stop.abort();
  }
  await writing;
  const gaps = times.slice(1).map((time, at) => time - times[at]!);
  console.log(
    `   ${name}: ${Math.round(Math.max(...gaps))} ms without an acknowledged write, over ${Math.round(times.at(-1)! - failedMs)} ms; ` +
      `${maps.length} ConfigMaps and ${pods.length} pods acknowledged`,
  );

  for (const endMs = performance.now() + SEEN_MAX_MS; appeared.length < PODS; await sleep(50))
    if (performance.now() > endMs) break;
  equal('pods that a watch saw appear', appeared.toSorted().join(), pods.toSorted().join());
  // A new process would have listed all of it once, as this one has before.
  equal('start of the API server', await api.startedSeconds(), started);
  equal('lists of the API server', await api.metric(LISTED), listed);
  await replaceServer(cluster, api);
  const [kept, keptMaps] = await Promise.all([api.list(PODS_PATH), api.list(MAPS_PATH)]);
  equal('pods', namesOf(kept.items).join(), pods.toSorted().join());
  const there = new Set(namesOf(keptMaps.items));
  equal('ConfigMaps lost', maps.filter((each) => !there.has(each)).join(), '');
  await cluster.kubectl('wait', 'pods', '--all', '--for=condition=Ready', '--timeout=170s');
  api.close();
}

/**
 * Kills the API server, whose lists may come from its memory. Resolves when the next process serves: it has no object but those of
 * the store.
 */
async function replaceServer(cluster: KindCluster, api: KubeApi): Promise<void> {
  const before = await api.startedSeconds();
  await cluster.signal(`kube-apiserver-${cluster.controlPlane}`, 'SIGKILL', 'kube-system');
  const isReplaced = async (): Promise<boolean> => {
    await api.get('/readyz');
    return (await api.startedSeconds()) > before;
  };
  for (const endMs = performance.now() + SERVER_MAX_MS; !(await isReplaced().catch(() => false)); await sleep(200))
    if (performance.now() > endMs) throw new Error(`no new API server serves after ${SERVER_MAX_MS} ms`);
}

const namesOf = (items: readonly { readonly metadata: { readonly name: string } }[]): readonly string[] =>
  items.map(({ metadata }) => metadata.name).sort();

/** Without it a pod is refused. It comes a moment after its namespace. */
async function serviceAccount(api: KubeApi): Promise<void> {
  const path = '/api/v1/namespaces/default/serviceaccounts/default';
  for (const endMs = performance.now() + SEEN_MAX_MS; ; await sleep(200)) {
    const found = await api
      .get(path)
      .catch((error: unknown) => (performance.now() > endMs ? Promise.reject(error) : ''));
    if (found !== '') return;
  }
}
