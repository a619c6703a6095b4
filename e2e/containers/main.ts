/**
 * Three members, PD and three stores in containers of the image that `make image` makes, under one fault of the container
 * engine after another; judged as e2e/chaos judges. See README.md.
 *
 *   main.ts <folder with release/ and lab-image/> <docker> <etcdctl> --seconds N [--rounds N] [--seed N] [--only fault,fault]
 */
import { campaign } from '../chaos/campaign.ts';
import { leaderAmong } from '../cluster/cluster-member.ts';
import { tool } from '../release/member.ts';
import { campaignArguments } from '../support/campaign-arguments.ts';
import { equal, Judge } from '../support/judge.ts';
import { ContainerLab, ContainerMember } from './cluster.ts';
import { Engine } from './engine.ts';
import { faults, type Scene } from './faults.ts';

const { positionals, prng, seconds, rounds, chosen } = campaignArguments({ faults, seconds: 60 });
const [folder = '.', docker = 'docker', etcdctl = 'etcdctl'] = positionals;
const judge = new Judge('containers');
const LOG_LINES = 15;
/** What a member says while it ends is among these, whatever its clients and the other members do meanwhile. */
const LAST_LINES = 200;
/** A call waits for a busy machine. etcdctl's own limits are two and five seconds. */
const PATIENT = ['--dial-timeout=20s', '--command-timeout=40s'];

// Clients that testcontainers keeps open do not keep this process: it ends behind the last check.
await judge.run(async () => {
  const engine = await Engine.connect(docker);
  try {
    await judgeContainers(engine);
  } catch (error) {
    console.log(await engine.logs(LOG_LINES));
    throw error;
  }
});

async function judgeContainers(engine: Engine): Promise<void> {
  const startMs = performance.now();
  const images = await engine.images(folder);
  await engine.networks();
  const lab = await ContainerLab.start(engine, images.lab);
  const members = await ContainerMember.startAll(engine, images.engram, lab, ['engram-1', 'engram-2', 'engram-3']);
  const endpoints = members.map(({ endpoint }) => endpoint);
  console.log(`three members in containers after ${Math.round(performance.now() - startMs)} ms`);

  await judge.check(
    'etcdctl outside of the containers writes at one member, reads at another, and sees all three',
    async () => {
      const ctl = (endpoint: string, ...args: readonly string[]): Promise<string> =>
        tool(etcdctl, ['--endpoints', endpoint, ...PATIENT, ...args]);
      await ctl(endpoints[0]!, 'put', 'from', 'outside');
      equal('value', (await ctl(endpoints[1]!, 'get', 'from', '--print-value-only')).trim(), 'outside');
      const list = await ctl(endpoints[2]!, 'member', 'list');
      equal('started members', [...list.matchAll(/, started, /g)].length, members.length);
      await ctl(endpoints.join(), 'endpoint', 'health');
    },
  );

  await judge.check(
    'nothing is lost, and all that was seen has an order, while containers are killed, paused and disconnected',
    async () => {
      const { problems, print } = await campaign<Scene>({
        prng,
        endpoints,
        faults,
        chosen,
        seconds,
        rounds,
        scene: (clients) => ({ ...clients, members, lab, prng, leader: () => leaderAmong(members, 500) }),
        alsoJudge: async () => {
          const ends = await Promise.all(members.map(({ container }) => container.violation()));
          return ends.filter((end) => end !== undefined);
        },
      });
      print();
      if (problems.length === 0) return;
      console.log(await engine.logs(LOG_LINES));
      throw new Error(problems.join('\n'));
    },
  );

  await judge.check('each member ends by SIGTERM with 0, and its log says so', async () => {
    for (const { container } of members) {
      await container.stop();
      const log = await container.log(LAST_LINES);
      for (const line of ['received signal; shutting down', 'closed'])
        if (!log.includes(line)) throw new Error(`${container.name} does not say "${line}":\n${log}`);
    }
  });
}
