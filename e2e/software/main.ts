/**
 * Programs that keep their state in etcd, on the store. See README.md.
 *
 *   main.ts <folder> <etcd> <etcdctl> <coredns> <python with patroni> <Vitess' tests> [<program> ...]
 */
import { join } from 'node:path';
import { Judge } from '../support/judge.ts';
import { endOnSignals } from '../support/end-on-signals.ts';
import { apisix } from './apisix.ts';
import { coredns } from './coredns.ts';
import { grpcProxy } from './grpc-proxy.ts';
import { patroni } from './patroni.ts';
import { vitess } from './vitess.ts';

const [folder = '.', etcd = '', etcdctl = '', dnsServer = '', python = '', tests = '', ...wanted] =
  process.argv.slice(2);
const judge = new Judge('software');
endOnSignals();
const programs: Readonly<Record<string, (folder: string) => Promise<void>>> = {
  'grpc-proxy': (folder) => grpcProxy(judge, { folder, etcd, etcdctl }),
  apisix: (folder) => apisix(judge, folder),
  patroni: (folder) => patroni(judge, { folder, python }),
  coredns: (folder) => coredns(judge, { folder, program: dnsServer }),
  vitess: (folder) => vitess(judge, { folder, tests }),
};
await judge.run(async () => {
  for (const [name, run] of Object.entries(programs)) {
    if (wanted.length === 0 || wanted.includes(name)) await run(join(folder, name));
  }
});
