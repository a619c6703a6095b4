import { describe, expect, test } from 'vitest';
import { checkFirstStart, parseInitialCluster } from '../src/cluster/initial-cluster.ts';

/* What etcd checks of --initial-cluster before it makes a new data directory. */

const hosts: Readonly<Record<string, readonly string[]>> = { 'a.example': ['10.0.0.1'], 'b.example': ['10.0.0.2'] };

async function firstStart(initialCluster: string, advertised: readonly string[]): Promise<string> {
  const members = parseInitialCluster('a', initialCluster, advertised);
  const addressesOf = async (host: string): Promise<readonly string[]> => {
    const found = hosts[host] ?? (/^[\d.]+$/.test(host) ? [host] : undefined);
    if (found === undefined) throw new Error(`unknown host ${host}`);
    return found;
  };
  let waitedMs = 0;
  const after = (ms: number, fire: () => void) => {
    waitedMs += ms;
    queueMicrotask(fire);
    return { cancel: () => {} };
  };
  try {
    await checkFirstStart({ name: 'a', members, advertised }, addressesOf, { after });
  } catch (error) {
    return `${error instanceof Error ? error.message : String(error)}${waitedMs > 0 ? ` (after ${waitedMs} ms)` : ''}`;
  }
  return 'starts';
}

describe('the first start of a node that is alone', () => {
  test.each([
    { list: '', own: ['http://10.0.0.1:1'], says: 'starts' },
    { list: 'a=http://10.0.0.1:1', own: ['http://10.0.0.1:1'], says: 'starts' },
    {
      list: 'a=http://10.0.0.1:1,a=http://10.0.0.2:1',
      own: ['http://10.0.0.2:1', 'http://10.0.0.1:1'],
      says: 'starts',
    },
    { list: 'a=http://a.example:1', own: ['http://10.0.0.1:1'], says: 'starts', why: 'the name has that address' },
    {
      list: 'a=http://b.example:1',
      own: ['http://10.0.0.1:1'],
      says: '--initial-cluster has a=http://b.example:1 but missing from --initial-advertise-peer-urls=http://10.0.0.1:1',
    },
    {
      list: 'a=http://nowhere.example:1',
      own: ['http://10.0.0.1:1'],
      says: '--initial-cluster has a=http://nowhere.example:1 but missing from --initial-advertise-peer-urls=http://10.0.0.1:1 (after 30000 ms)',
    },
    {
      list: 'a=http://localhost:1',
      own: ['http://127.0.0.1:1'],
      says: '--initial-cluster has a=http://localhost:1 but missing from --initial-advertise-peer-urls=http://127.0.0.1:1',
      why: 'etcd does not resolve this name',
    },
    {
      list: 'a=http://10.0.0.1:1',
      own: ['http://10.0.0.1:1', 'http://10.0.0.2:1'],
      says: '--initial-advertise-peer-urls has a=http://10.0.0.2:1 but missing from --initial-cluster=a=http://10.0.0.1:1',
    },
    {
      list: 'b=http://10.0.0.1:1',
      own: ['http://10.0.0.1:1'],
      says: 'couldn\'t find local name "a" in the initial cluster configuration',
    },
    { list: 'nonsense', own: [], says: 'error setting up initial cluster: "nonsense": expected name=URL' },
    {
      list: 'a=http://a:1,b=http://b:1,c=http://c:1',
      own: ['http://a:1'],
      says: '--initial-cluster names 3 members (a, b, c): a cluster of more than one keeps its log in TiKV, so it needs --storage=tikv and --tikv-pd-endpoints',
    },
  ])('$list beside $own: $says', async ({ list, own, says }) => {
    expect(await firstStart(list, own)).toBe(says);
  });
});
