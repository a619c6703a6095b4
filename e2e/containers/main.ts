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

const startMs = performance.now();
const engine = await Engine.connect(docker);
const images = await engine.images(folder);
await engine.networks();
const lab = await ContainerLab.start(engine, images.lab);
const members = await ContainerMember.startAll(engine, images.engram, lab, ['engram-1', 'engram-2', 'engram-3']);
const endpoints = members.map(({ endpoint }) => endpoint);
console.log(`three members in containers after ${Math.round(performance.now() - startMs)} ms`);

await judge.check(
  'etcdctl outside of the containers writes at one member, reads at another, and sees all three',
  async () => {
    await tool(etcdctl, ['--endpoints', endpoints[0]!, 'put', 'from', 'outside']);
    const read = await tool(etcdctl, ['--endpoints', endpoints[1]!, 'get', 'from', '--print-value-only']);
    equal('value', read.trim(), 'outside');
    const list = await tool(etcdctl, ['--endpoints', endpoints[2]!, 'member', 'list']);
    equal('started members', [...list.matchAll(/, started, /g)].length, members.length);
    await tool(etcdctl, ['--endpoints', endpoints.join(), 'endpoint', 'health']);
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
    for (const { container } of members) console.log(`-- ${container.name}\n${await container.log(LOG_LINES)}`);
    throw new Error(problems.join('\n'));
  },
);

await judge.check('each member ends by SIGTERM with 0, and its log says so', async () => {
  for (const { container } of members) {
    await container.stop();
    const log = await container.log(LOG_LINES);
    for (const line of ['received signal; shutting down', 'closed'])
      if (!log.includes(line)) throw new Error(`${container.name} does not say "${line}":\n${log}`);
  }
});

judge.end();
// Clients that testcontainers keeps open must not keep this process.
process.exit();
