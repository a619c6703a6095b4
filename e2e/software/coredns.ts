import { Resolver } from 'node:dns/promises';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../../test/support/free-port.ts';
import { newStorePlace, StoreProcess } from '../../test/support/store-process.ts';
import { haveUsers } from '../support/have-users.ts';
import { type Judge, equal } from '../support/judge.ts';
import { Program, until } from './program.ts';

const WAIT_MAX_MS = 20_000;
const ROOT = { name: 'root', password: 'of-root', prefix: undefined } as const;
const USER = { name: 'coredns', password: 'of-coredns', prefix: '/skydns/' } as const;

export interface CorednsOptions {
  readonly folder: string;
  readonly program: string;
}

/** CoreDNS answers from the store, as a user of few rights; names are put, changed, leased and deleted by the JSON gateway. */
export async function coredns(judge: Judge, { folder, program }: CorednsOptions): Promise<void> {
  const place = await newStorePlace(join(folder, 'data'));
  let store = await StoreProcess.start(place);
  try {
    await haveUsers(store.endpoint, [ROOT, USER]);
    const port = await freePort();
    await mkdir(folder, { recursive: true });
    const file = join(folder, 'Corefile');
    await writeFile(
      file,
      `e2e.test:${port} {\n  errors\n  etcd {\n    path /skydns\n    endpoint http://${store.endpoint}\n    credentials ${USER.name} ${USER.password}\n  }\n}\n`,
    );
    await using server = new Program(program, ['-conf', file]);
    const names = new Names(store.endpoint);
    await names.logIn();
    const resolver = new Resolver({ timeout: 2_000, tries: 2 });
    resolver.setServers([`127.0.0.1:${port}`]);
    const checks: Readonly<Record<string, () => Promise<void>>> = {
      'an address': async () => {
        await names.put('a/x1', { host: '10.1.1.1', port: 80 });
        await until(
          'an address',
          WAIT_MAX_MS,
          async () => (await resolver.resolve4('x1.a.e2e.test'))[0] === '10.1.1.1',
        );
      },
      'all addresses below a name, and their ports': async () => {
        await names.put('a/x2', { host: '10.1.1.2', port: 81 });
        const addresses = await resolver.resolve4('a.e2e.test');
        equal('addresses', addresses.toSorted().join(), '10.1.1.1,10.1.1.2');
        const ports = (await resolver.resolveSrv('a.e2e.test')).map((record) => record.port);
        equal('ports', ports.toSorted().join(), '80,81');
      },
      'one that has changed': async () => {
        await names.put('a/x1', { host: '10.1.1.3', port: 80 });
        equal('address', (await resolver.resolve4('x1.a.e2e.test')).join(), '10.1.1.3');
      },
      'one with a lease, whose time is the time to live': async () => {
        await names.put('a/leased', { host: '10.1.1.4' }, 120);
        const [record] = await resolver.resolve4('leased.a.e2e.test', { ttl: true });
        equal('time to live', record !== undefined && record.ttl > 60 && record.ttl <= 120, true);
      },
      'none that was deleted': async () => {
        await names.remove('a/x1');
        equal('error', await resolver.resolve4('x1.a.e2e.test').then(String, codeOf), 'ENOTFOUND');
      },
      'the others, after the store was killed and has started again': async () => {
        await store.kill();
        store = await StoreProcess.start(place);
        await until(
          'an address',
          WAIT_MAX_MS,
          async () => (await resolver.resolve4('x2.a.e2e.test'))[0] === '10.1.1.2',
        );
      },
    };
    for (const [what, work] of Object.entries(checks)) {
      await judge.check(`coredns answers ${what}`, async () => {
        try {
          await work();
        } catch (error) {
          throw new Error(`${String(error)}\nCoreDNS:\n${server.output}`, { cause: error });
        }
      });
    }
  } finally {
    await store.kill();
  }
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : String(error);

/** Names in SkyDNS' form. */
class Names {
  readonly #endpoint: string;
  #token = '';

  constructor(endpoint: string) {
    this.#endpoint = endpoint;
  }

  async logIn(): Promise<void> {
    this.#token = String((await this.#ask('auth/authenticate', { name: USER.name, password: USER.password }))['token']);
  }

  /** `path` is the name backwards, below the zone. */
  async put(path: string, record: object, seconds?: number): Promise<void> {
    const lease = seconds === undefined ? {} : { lease: (await this.#ask('lease/grant', { TTL: seconds }))['ID'] };
    await this.#ask('kv/put', { key: keyOf(path), value: base64(JSON.stringify(record)), ...lease });
  }

  async remove(path: string): Promise<void> {
    await this.#ask('kv/deleterange', { key: keyOf(path) });
  }

  async #ask(path: string, request: object): Promise<Readonly<Record<string, unknown>>> {
    const body = JSON.stringify(request);
    const headers = this.#token === '' ? {} : { authorization: this.#token };
    const answer = await fetch(`http://${this.#endpoint}/v3/${path}`, { method: 'POST', headers, body });
    const json: unknown = await answer.json();
    if (!answer.ok || typeof json !== 'object' || json === null) throw new Error(`${path}: ${JSON.stringify(json)}`);
    return { ...json };
  }
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const keyOf = (path: string): string => base64(`/skydns/test/e2e/${path}`);
