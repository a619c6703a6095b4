import { join } from 'node:path';
import { freePort } from '../../test/support/free-port.ts';
import { newStorePlace, StoreProcess } from '../../test/support/store-process.ts';
import { haveUsers } from '../support/have-users.ts';
import { type Judge, equal } from '../support/judge.ts';
import { Program, until } from './program.ts';

const WAIT_MAX_MS = 20_000;
const ROOT = { name: 'root', password: 'of-root', prefix: undefined } as const;
const USER = { name: 'alice', password: 'of-alice', prefix: 'alice/' } as const;

export interface GrpcProxyOptions {
  readonly folder: string;
  readonly etcd: string;
  readonly etcdctl: string;
}

/** etcd's own proxy before the store: it joins watches and renewals of its clients, and keeps what they have read. */
export async function grpcProxy(judge: Judge, { folder, etcd, etcdctl }: GrpcProxyOptions): Promise<void> {
  const place = await newStorePlace(join(folder, 'data'));
  let store = await StoreProcess.start(place);
  try {
    const port = await freePort();
    await using proxy = new Program(etcd, [
      'grpc-proxy',
      'start',
      `--endpoints=${store.endpoint}`,
      `--listen-addr=127.0.0.1:${port}`,
      `--advertise-client-url=127.0.0.1:${port}`,
      `--data-dir=${join(folder, 'proxy')}`,
    ]);
    const at =
      (endpoint: string) =>
      (...args: string[]): Promise<string> =>
        Program.run(etcdctl, [`--endpoints=${endpoint}`, ...args], WAIT_MAX_MS);
    const through = at(`127.0.0.1:${port}`);
    const directly = at(store.endpoint);
    const watching = (...args: string[]): Program =>
      new Program(etcdctl, [`--endpoints=127.0.0.1:${port}`, 'watch', ...args]);
    const sees = (watch: Program, text: string): Promise<void> =>
      until(`a watch sees ${text}`, WAIT_MAX_MS, async () => watch.output.includes(text));
    await until('the proxy serves', WAIT_MAX_MS, async () => (await through('get', 'nothing')) === '');

    const checks: Readonly<Record<string, () => Promise<void>>> = {
      'keys: put, read from what it keeps, changed behind its back, deleted': async () => {
        await through('put', 'k/a', '1');
        for (let at = 0; at < 2; at += 1) equal('value', await through('get', 'k/a', '--print-value-only'), '1');
        await directly('put', 'k/a', '2');
        equal('value', await through('get', 'k/a', '--print-value-only'), '2');
        equal('deleted', await through('del', 'k/', '--prefix'), '1');
        equal('left', await through('get', 'k/', '--prefix', '--keys-only'), '');
      },
      'watches of one key by two clients, of a prefix, and of what was before': async () => {
        const [first, second, prefix] = [watching('w/a'), watching('w/a'), watching('w/', '--prefix')];
        await using _first = first;
        await using _second = second;
        await using _prefix = prefix;
        let round = 0;
        const next = async (): Promise<boolean> => {
          round += 1;
          await directly('put', 'w/a', `round ${round}`);
          return [first, second, prefix].every(({ output }) => output.includes('round'));
        };
        await until('all watches see something', WAIT_MAX_MS, next);
        await through('put', 'w/a', 'the last');
        for (const watch of [first, second, prefix]) await sees(watch, 'the last');
        await using history = watching('w/a', '--rev=1');
        await sees(history, 'the last');
        equal('the first round', history.output.includes('round 1\n'), true);
      },
      'leases: kept alive, with their keys, and their end': async () => {
        const [, id = ''] = /lease (\w+) granted/.exec(await through('lease', 'grant', '3')) ?? [];
        await through('put', 'l/a', 'v', `--lease=${id}`);
        await using kept = new Program(etcdctl, [`--endpoints=127.0.0.1:${port}`, 'lease', 'keep-alive', id]);
        const times = (): number => kept.output.split('keepalived').length - 1;
        // Longer than its time: without a renewal it would have ended.
        await until('five renewals', WAIT_MAX_MS, async () => times() >= 5);
        equal('keys', (await through('lease', 'timetolive', id, '--keys')).includes('attached keys([l/a])'), true);
        await through('lease', 'revoke', id);
        equal('left', await through('get', 'l/a'), '');
      },
      'a transaction': async () => {
        await using txn = new Program(etcdctl, [`--endpoints=127.0.0.1:${port}`, 'txn', '--interactive=false']);
        for (const line of ['ver("t") = "0"', '', 'put t made', '', 'get t', '', '']) txn.say(line);
        await until('it succeeds', WAIT_MAX_MS, async () => txn.output.includes('SUCCESS'));
        equal('value', await through('get', 't', '--print-value-only'), 'made');
      },
      'locks and elections': async () => {
        equal('run under the lock', await through('lock', 'm', 'echo', 'locked'), 'locked');
        await using leader = new Program(etcdctl, [`--endpoints=127.0.0.1:${port}`, 'elect', 'e', 'first']);
        await until('a leader', WAIT_MAX_MS, async () => leader.output.includes('first'));
        await using observer = new Program(etcdctl, [`--endpoints=127.0.0.1:${port}`, 'elect', '--listen', 'e']);
        await until('the leader is seen', WAIT_MAX_MS, async () => observer.output.includes('first'));
      },
      'a compaction, below which nothing is read': async () => {
        const revision = /"revision":(\d+)/.exec(await through('put', 'c', '1', '--write-out=json'))?.[1] ?? '';
        await through('put', 'c', '2');
        const later = /"revision":(\d+)/.exec(await through('put', 'c', '3', '--write-out=json'))?.[1] ?? '';
        equal('old value', await through('get', 'c', `--rev=${revision}`, '--print-value-only'), '1');
        await through('compaction', later);
        const refused = await through('get', 'c', `--rev=${revision}`).then(String, String);
        equal('refused', refused.includes('required revision has been compacted'), true);
      },
      'its pages': async () => {
        for (const path of ['/health', '/proxy/health', '/metrics'])
          equal(path, (await fetch(`http://127.0.0.1:${port}${path}`)).status, 200);
      },
      'the store after it was killed': async () => {
        await using watch = watching('r/', '--prefix');
        let round = 0;
        const seesNext = async (): Promise<void> => {
          const from = round;
          await until('the watch sees something new', WAIT_MAX_MS, async () => {
            round += 1;
            await through('put', 'r/a', `round ${round}`);
            return Number(watch.output.split('round ').at(-1)) > from;
          });
        };
        await seesNext();
        await store.kill();
        store = await StoreProcess.start(place);
        await seesNext();
        equal('what was before', await through('get', 't', '--print-value-only'), 'made');
      },
      users: async () => {
        await haveUsers(store.endpoint, [ROOT, USER]);
        const login = `--user=${USER.name}:${USER.password}`;
        await through(login, 'put', 'alice/a', 'hers');
        equal('value', await through(login, 'get', 'alice/a', '--print-value-only'), 'hers');
        const refused = async (...args: string[]): Promise<string> => through(...args).then(String, String);
        equal('elsewhere', (await refused(login, 'get', 't')).includes('permission denied'), true);
        equal('nobody', (await refused('get', 'alice/a')).includes('user name is empty'), true);
      },
    };
    for (const [what, work] of Object.entries(checks)) {
      await judge.check(`grpc-proxy: ${what}`, async () => {
        try {
          await work();
        } catch (error) {
          throw new Error(`${String(error)}\nthe proxy:\n${proxy.output}`, { cause: error });
        }
      });
    }
  } finally {
    await store.kill();
  }
}
