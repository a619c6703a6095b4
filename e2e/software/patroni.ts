import { join } from 'node:path';
import { newStorePlace, StoreProcess } from '../../test/support/store-process.ts';
import { haveUsers } from '../support/have-users.ts';
import { type Judge, equal } from '../support/judge.ts';
import { stillHeld } from '../support/nothing-held.ts';
import { EtcdClient } from '../../test/support/etcd-client.ts';
import { etcdserverpb as pb } from '@engram/wire';
import { Program } from './program.ts';

const CHECKS = [
  'members',
  'initialize',
  'leader',
  'config',
  'wakes',
  'sync',
  'tokens',
  'restart',
  'takeover',
  'delete',
] as const;
const RUN_MAX_MS = 180_000;
const ROOT = { name: 'root', password: 'of root', prefix: undefined } as const;
const USER = { name: 'patroni', password: 'of patroni', prefix: '/service/' } as const;

export interface PatroniOptions {
  readonly folder: string;
  /** That of an environment which has Patroni. */
  readonly python: string;
}

/** Patroni's client of the gateway as two candidates, by a user of few rights, over the end of all tokens and a kill of the store. */
export async function patroni(judge: Judge, { folder, python }: PatroniOptions): Promise<void> {
  const place = await newStorePlace(folder);
  let store = await StoreProcess.start(place);
  try {
    await haveUsers(store.endpoint, [ROOT, USER]);
    const found = new Map<string, string>();
    const deeds: Readonly<Record<string, () => Promise<void>>> = {
      'end tokens': () => endTokens(store.endpoint),
      'kill and start': async () => {
        await store.kill();
        store = await StoreProcess.start(place);
      },
    };
    await using candidates = new Program(python, [join(import.meta.dirname, 'patroni/candidates.py')], {
      environment: { ENDPOINT: store.endpoint, USER_NAME: USER.name, PASSWORD: USER.password },
      onLine: (line, program) => {
        const [, verdict, check = ''] = /^(ok|FAILED) ([a-z]+)/.exec(line) ?? [];
        if (verdict !== undefined) found.set(check, verdict === 'ok' ? 'ok' : line);
        const deed = deeds[line.replace(/^please /, '')];
        deed?.().then(
          () => program.say('done'),
          (error: unknown) => found.set(line, String(error)),
        );
      },
    });
    const end = await candidates.end(RUN_MAX_MS);
    for (const check of CHECKS) {
      await judge.check(`patroni: ${check}`, async () => {
        equal(check, found.get(check) ?? `nothing: ${String(end)}: ${candidates.output}`, 'ok');
      });
    }
    await judge.check('patroni: nothing is held for it', async () => {
      equal('held', (await stillHeld(store.endpoint)).join(', '), '');
    });
  } finally {
    await store.kill();
  }
}

async function endTokens(endpoint: string): Promise<void> {
  using client = new EtcdClient(endpoint);
  const logIn = pb.encodeAuthenticateRequest({ name: ROOT.name, password: ROOT.password });
  const { token } = pb.decodeAuthenticateResponse(await client.auth('Authenticate', logIn));
  const gateway = async (path: string): Promise<void> => {
    const headers = { authorization: token };
    const answer = await fetch(`http://${endpoint}/v3/auth/${path}`, { method: 'POST', headers, body: '{}' });
    equal(path, answer.status, 200);
  };
  await gateway('disable');
  await gateway('enable');
}
