/**
 * A modest client in a process of its own: neighbour.ts <endpoint> <pid of its member>. Puts and gets a small key in turn,
 * with a short pause behind each answer. Prints `ready`, then for each line that it reads a line of JSON with all
 * latencies since, in ms: without what the event loops of the member and of this process have waited for a core.
 */
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { EtcdClient } from '../../test/support/etcd-client.ts';
import { Usage } from '../fuzz/usage.ts';

const PAUSE_MS = 5;
const key = Buffer.from('neighbour');
const value = Buffer.from('small');
using client = new EtcdClient(process.argv[2]!, { deadlineMs: 30_000 });
await client.put({ key, value });
console.log('ready');

const usage = new Usage(Number(process.argv[3]));
const nowMs = (): number => performance.now() - usage.waitedMs();
let taken: number[] = [];
let begunMs = nowMs();
createInterface({ input: process.stdin })
  .on('line', () => {
    // A call without an answer has taken at least this long.
    console.log(JSON.stringify([...taken, nowMs() - begunMs]));
    taken = [];
  })
  .once('close', () => process.exit(0));
for (let turn = 0; ; turn += 1) {
  begunMs = nowMs();
  await (turn % 2 === 0 ? client.put({ key, value }) : client.range({ key }));
  taken.push(nowMs() - begunMs);
  await sleep(PAUSE_MS);
}
