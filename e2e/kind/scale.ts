import { setTimeout as sleep } from 'node:timers/promises';
import type { Prng } from '@engram/sim';
import { campaign, type Fault } from '../chaos/campaign.ts';
import { copiesAreEqual } from '../chaos/judge.ts';
import { leaderAmong } from '../cluster/cluster-member.ts';
import { equal, type Judge } from '../support/judge.ts';
import type { Scene } from './faults.ts';
import { type KindCluster, run } from './kind-cluster.ts';
import { timed } from './timed.ts';
import { ChartRelease, nodePort, type PodLab, type PodMember } from './workloads.ts';

const FIRST_PORT = 30_020;
const MEMBERS_MAX = 5;
const MEMBERS_AT_END = 3;
/** Of a node, for clients: it leads to any member that is ready. */
const ANY_PORT = 30_029;
const CLIENTS = 3;
const CHANGE_MAX_MS = 90_000;
const PEER_PORT = 2380;

export interface Scaling {
  readonly cluster: KindCluster;
  readonly lab: PodLab;
  readonly prng: Prng;
}

/** The chart on TiKV grows from one member to three and five, and goes back to three, under clients. It is gone at the end. */
export async function judgeScale(judge: Judge, { cluster, lab, prng }: Scaling): Promise<void> {
  const scaled = new ChartRelease(cluster, 'scaled', FIRST_PORT, {
    replicaCount: '1',
    'storage.type': 'tikv',
    'tikv.pdEndpoints': `{${lab.address}}`,
    initialClusterToken: 'scaled',
    'persistence.enabled': 'false',
  });
  const places = await timed('helm install of one member on TiKV', () => scaled.install(1, MEMBERS_MAX));
  const first = places[0]!;
  const anyMember = { 'app.kubernetes.io/instance': scaled.name, 'app.kubernetes.io/component': 'member' };
  await cluster.apply(nodePort(`${scaled.name}-any`, anyMember, 2379, ANY_PORT));
  const etcdctl = (...args: readonly string[]): Promise<string> =>
    run('etcdctl', ['--endpoints', first.endpoint, ...args]);

  /**
   * As in etcd, a change is refused until all members have been connected for five seconds. One without an answer is asked
   * for again: then its effect is already there.
   */
  async function change(...args: readonly string[]): Promise<void> {
    for (const endMs = performance.now() + CHANGE_MAX_MS; ; await sleep(500)) {
      try {
        await etcdctl('member', ...args);
        return;
      } catch (error) {
        if (/Peer URLs already exists|member not found/.test(String(error))) return;
        if (performance.now() > endMs) throw error;
      }
    }
  }
  const add = (member: PodMember): Promise<void> =>
    change('add', member.name, `--peer-urls=http://${scaled.hostOf(member)}:${PEER_PORT}`);

  /** The first new member is added before its pod is there, the others while theirs end and are started again. */
  const grow = (from: number, to: number): Fault<Scene> => {
    return async () => {
      const [next, ...others] = places.slice(from, to);
      await add(next!);
      await scaled.scale(places.slice(0, to));
      for (const member of others) await add(member);
      await scaled.rolledOut();
      await hasMembers(to);
      return async () => undefined;
    };
  };
  const shrink = (from: number, to: number): Fault<Scene> => {
    return async () => {
      for (const member of places.slice(to, from).reverse()) {
        await change('remove', await idOf(member));
        await cluster.says(member.name, /permanently removed from the cluster/);
      }
      await scaled.scale(places.slice(0, to));
      await scaled.rolledOut();
      await hasMembers(to);
      return async () => undefined;
    };
  };

  async function idOf({ name }: PodMember): Promise<string> {
    const line = (await etcdctl('member', 'list')).split('\n').find((member) => member.split(', ')[2] === name);
    if (line === undefined) throw new Error(`${name} is no member`);
    return line.split(', ')[0]!;
  }

  async function hasMembers(count: number): Promise<void> {
    const list = (await etcdctl('member', 'list')).trim().split('\n');
    const names = list.map((member) => member.split(', ').slice(1, 3).join(' ')).sort();
    const wanted = places.slice(0, count).map(({ name }) => `started ${name}`);
    equal('members', names.join(), wanted.join());
  }

  const steps: Readonly<Record<string, Fault<Scene>>> = {
    'from one member to three': grow(1, 3),
    'from three members to five': grow(3, 5),
    'from five members to three': shrink(5, 3),
  };
  await judge.check('members on TiKV: nothing is lost while one becomes three, five, and three again', async () => {
    const { problems, print } = await campaign<Scene>({
      prng,
      endpoints: Array.from({ length: CLIENTS }, () => `${cluster.address}:${ANY_PORT}`),
      faults: steps,
      chosen: Object.keys(steps),
      inOrder: true,
      seconds: 0,
      rounds: 1,
      scene: (clients) => ({
        ...clients,
        cluster,
        release: scaled,
        members: places,
        prng,
        leader: () => leaderAmong(places, 500),
      }),
      alsoJudge: () => copiesAreEqual({ endpoints: places.slice(0, MEMBERS_AT_END).map(({ endpoint }) => endpoint) }),
    });
    print();
    if (problems.length > 0) throw new Error(problems.join('\n'));
  });
  await cluster.helm('uninstall', scaled.name, '--wait');
}
